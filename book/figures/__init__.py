"""The book's figures: one module a figure, each a pure function to a figure; ``style`` makes them look alike."""
