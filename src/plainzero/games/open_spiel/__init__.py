"""OpenSpiel's perfect-information games, played through our contract."""
