"""Selection of models for each role, and recording of their failures."""
