"""The door over HTTP: who may come in, what may be asked, and how errors look."""
