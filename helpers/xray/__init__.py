"""X-ray: one launch under the microscope."""
