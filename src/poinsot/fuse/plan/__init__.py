"""How much straight-line code suits a machine, and which values it keeps in registers."""
