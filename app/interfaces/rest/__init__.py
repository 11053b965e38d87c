"""The REST API: access control, operations, and error responses."""
