"""Whatever the open points are, the facts hold: a profile never makes a service differ.

Ids of text are the one exception: the document says that they are integers.
"""

import pytest
from bent import differing
from profiles import PROFILES

IDS = {"flow_id", "content_id", "contact_id", "webhook_id"}


@pytest.mark.parametrize("profile", PROFILES, ids=map(str, range(len(PROFILES))))
def test_only_ids_of_text_differ(profile):
    profile = profile.model_copy(
        update={
            "rate_limit": None,  # it would only take longer
            # A list without pageSize would be refused for its own default.
            "default_page_size": min(profile.default_page_size, profile.max_page_size),
        }
    )
    assert differing(profile=profile) == (IDS if profile.id_type == "string" else set())
