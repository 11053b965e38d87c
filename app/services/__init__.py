"""Use cases of clawmem, one package per area. They receive ports and never import adapters."""
