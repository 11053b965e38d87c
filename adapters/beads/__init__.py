"""Issues of Beads."""
