from __future__ import annotations

import os

from hypothesis import settings

# A property is true or false; how long one example takes on a busy machine says nothing about it. Under CI
# hypothesis brings its own profile, which says the same and repeats the same examples.
settings.register_profile("steady", deadline=None)
if "CI" not in os.environ:
    settings.load_profile("steady")
