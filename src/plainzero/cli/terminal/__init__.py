"""What several commands share: arguments, boards and progress in the terminal, errors."""
