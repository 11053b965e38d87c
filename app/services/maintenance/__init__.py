"""Maintenance: health checks, scheduled lanes, consolidation and reports."""
