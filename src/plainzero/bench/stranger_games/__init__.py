"""Games as other people write them, on which nothing was tuned; `bench learning` trains them."""
