"""Issues of trackers as documents."""
