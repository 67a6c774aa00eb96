"""Make what ships: fit the models of foresight and the weights of scout."""
