"""One rigid body, one module per formulation, and the exact solutions."""
