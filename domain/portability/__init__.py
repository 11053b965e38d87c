"""Files of exports."""
