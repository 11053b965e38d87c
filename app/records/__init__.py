"""What is known of something as plain JSON, under the same names at every door."""
