"""Search a position of Connect Four with UCT, then continue with the same tree two moves later.

python examples/search_a_position.py
"""

from plainzero import SearchConfig, Searcher, make_game


def main() -> None:
    """Prints the results of both searches."""
    game = make_game("connect-four")
    state = game.new_state()
    for name in ("4", "4", "3"):
        game.apply(state, game.parse_action(name))

    searcher = Searcher(game, "rollout", SearchConfig(simulations=20_000))
    for turn in range(2):
        result = searcher.search(state, seed=turn)
        line = " ".join(game.action_name(action) for action in result.principal_variation[:6])
        print(game.text(state))
        print(
            f"best {game.action_name(result.best_action)}, value {result.value:+.3f}, line {line}"
        )
        print(f"{result.simulations} new simulations, {result.visits.sum()} visits in total\n")
        for action in result.principal_variation[:2]:  # our move, and the expected reply
            game.apply(state, action)
            searcher.advance(action)


if __name__ == "__main__":
    main()
