"""The projects in here have an environment and a pytest run of their own: tests/integration/test_third_party.py."""

collect_ignore = ["acme-memory"]
