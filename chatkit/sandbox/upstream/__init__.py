"""The upstream platform, as far as its published rules tell: how it judges documents and contents.

Saving a broken flow document works upstream, only publishing it is refused; so nothing here
refuses anything. It finds, and the sandbox's admin door shows what was found.
"""

from chatkit.sandbox.upstream.content import check_content
from chatkit.sandbox.upstream.document import check_flow
from chatkit.sandbox.upstream.finding import Finding

__all__ = ["Finding", "check_content", "check_flow"]
