"""The door for assistants: tools, resources and prompts of the Model Context Protocol."""
