"""What the right answer gives: our solutions and PyTorch's own scaler, live or recorded."""
