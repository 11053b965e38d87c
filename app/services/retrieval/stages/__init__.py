"""What is done with candidates, one file a stage."""
