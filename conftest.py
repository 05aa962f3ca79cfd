"""No test ever reaches a live account or a person's own settings, whatever the shell exports.

This stands at the root because notebooks are tested too: `chatkit.connect()` in them would
follow CHATKIT_* variables to a real account and write to it.
"""

import atexit
import os
import shutil
import tempfile

for name in [name for name in os.environ if name.startswith("CHATKIT_")]:
    if not name.startswith("CHATKIT_CONTRACT_"):  # an account that was made for tests
        del os.environ[name]

home = tempfile.mkdtemp(prefix="chatkit-tests-")
atexit.register(shutil.rmtree, home, ignore_errors=True)
for name in (
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"),  # chatkit's own files
    *("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"),
):
    os.environ[name] = os.path.join(home, name.lower())
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
