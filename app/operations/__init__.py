"""Everything that clawmem can do, a module a noun; every interface is made from these operations."""
