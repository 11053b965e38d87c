"""Whether another implementation of the policies answers as this one."""
