"""How much code a machine likes, and which values it keeps in registers."""
