"""Memory of an agent of OpenClaw: the memory files of its workspace and its sessions."""
