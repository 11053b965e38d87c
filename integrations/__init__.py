"""Memory for frameworks: each module needs the extra of the same name. The folders are plugins of agents."""
