"""The encoder on rows equals the formulas between people, alone and in batches."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from learning_cases import expanded, graphs, quick_paper

from claim.discovery import Discovered
from claim.learning import paper
from claim.learning.config import Shape
from claim.learning.network import Encoder, frontier_rows, new_network, smooth
from claim.learning.observation import Batch, State, class_rows
from claim.learning.paper import GeometricDQN

FEATURES, HIDDEN, CLUSTERS = 5, 7, 3


def state_of(discovered: Discovered, seed: int = 0) -> tuple[State, tuple[tuple[int, ...], ...]]:
    graph = class_rows(discovered)
    features = np.random.default_rng(seed).normal(size=(graph.rows, FEATURES)).astype(np.float32)
    return State.of(graph, features), graph.members


@pytest.fixture
def encoder() -> Encoder:
    torch.manual_seed(1)
    return Encoder(FEATURES, HIDDEN, CLUSTERS)


def dense_formulas(
    encoder: Encoder, adjacency: torch.Tensor, features: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """GCN and DiffPool between people, as written in the papers."""

    def normalised(matrix: torch.Tensor) -> torch.Tensor:
        closed = matrix + torch.eye(len(matrix))
        root = torch.diag(closed.sum(dim=1).rsqrt())
        return root @ closed @ root

    p = normalised(adjacency)
    once = torch.relu(p @ features @ encoder.first.weight.weight.T)
    rows = torch.relu(p @ once @ encoder.second.weight.weight.T)
    assignment = torch.softmax(p @ once @ encoder.assign.weight.T, dim=1)
    coarse_features = assignment.T @ rows / len(adjacency)
    coarse = normalised(assignment.T @ adjacency @ assignment)
    return torch.relu(coarse @ coarse_features @ encoder.coarse.weight.weight.T).mean(dim=0), rows


@pytest.mark.parametrize("discovered", graphs(), ids=range(6))
def test_rows_with_multiplicities_equal_people(encoder: Encoder, discovered: Discovered) -> None:
    state, members = state_of(discovered)
    network = discovered.as_network()
    adjacency = np.zeros((network.n, network.n), dtype=np.float32)
    sources, targets, _ = network.edges()
    adjacency[sources, targets] = adjacency[targets, sources] = 1
    features = torch.from_numpy(expanded(state.features, members, network.n))
    embedding, rows = encoder(Batch.of([state]))
    wanted_embedding, wanted_rows = dense_formulas(encoder, torch.from_numpy(adjacency), features)
    np.testing.assert_allclose(embedding[0].detach(), wanted_embedding.detach(), atol=2e-5)
    got = expanded(rows.detach().numpy(), members, network.n)
    np.testing.assert_allclose(got, wanted_rows.detach(), atol=2e-5)


def test_a_batch_equals_its_graphs_one_by_one(encoder: Encoder) -> None:
    states = [state_of(discovered, seed)[0] for seed, discovered in enumerate(graphs())]
    together, _ = encoder(Batch.of(states))
    alone = torch.cat([encoder(Batch.of([state]))[0] for state in states])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("discovered", graphs(), ids=range(6))
def test_values_of_classes_equal_those_of_the_network_of_the_paper(discovered: Discovered) -> None:
    """With the same weights and features, and without what only ``claim`` has.

    These are the flags, the embedding of the action after the convolutions, and pooled means in place of sums.
    """
    d, hidden = 3, 7
    shape = {"dimensions": d, "hidden": hidden, "clusters": 4, "layers": (9, 8)}
    classes, people = (
        new_network(Shape("netmf", **shape, goal=False), 1),
        GeometricDQN(quick_paper("geometric-dqn", **shape)),
    )
    encoder, first = classes.encoder, classes.head[0]
    with torch.no_grad():
        encoder.first.weight.weight[:, d:] = 0
        first.weight[:, hidden + d :] = 0
        people.first.weight.copy_(encoder.first.weight.weight[:, :d])
        people.second.weight.copy_(encoder.second.weight.weight)
        people.assign.weight.copy_(encoder.assign.weight)
        people.coarse.weight.copy_(encoder.coarse.weight.weight)
        people.fc1.weight.copy_(first.weight[:, : hidden + d])
        people.fc1.bias.copy_(first.bias)
    people.fc2.load_state_dict(classes.head[2].state_dict())
    people.out.load_state_dict(classes.head[4].state_dict())
    state, members = state_of(discovered)  # d features, and two flags that count for nothing
    batch = Batch.of([state])
    batch = replace(batch, people=torch.ones_like(batch.people))
    of_classes, embedding = classes(batch, *frontier_rows([state], batch), None)
    features = torch.from_numpy(expanded(state.features, members, len(discovered))[:, :d])
    ties = torch.from_numpy(np.array(discovered.ties(), dtype=np.int64))
    dense = paper.State(features, ties, torch.tensor(discovered.frontier))
    of_people = people(people.embed([dense])[0], features[dense.actions], None)
    torch.testing.assert_close(embedding[0], people.embed([dense])[0], atol=1e-5, rtol=1e-4)
    value = {who: of_classes[i, 0] for i, row in enumerate(state.frontier) for who in members[row]}
    wanted = torch.stack([value[person] for person in dense.actions.tolist()])
    torch.testing.assert_close(of_people, wanted, atol=1e-5, rtol=1e-4)


def test_gradients_flow_through_the_sparse_product(encoder: Encoder) -> None:
    state, _ = state_of(graphs()[2])
    batch = Batch.of([state])
    features = batch.features.double().requires_grad_()
    matrix = batch.smoothing.to_dense().double()
    root = batch.multiplicity.double().sqrt()
    weight = torch.from_numpy(np.random.default_rng(3).normal(size=features.shape))
    (weight * (matrix @ (root * features) / root)).sum().backward()
    wanted = features.grad
    single = batch.features.clone().requires_grad_()
    (weight.float() * smooth(replace(batch, features=single), single)).sum().backward()
    torch.testing.assert_close(single.grad, wanted.float(), atol=1e-5, rtol=1e-4)  # type: ignore[union-attr]


def test_people_without_contacts_change_nothing_but_their_share(encoder: Encoder) -> None:
    lonely = Discovered()
    lonely.record_start(lonely.add_person())
    state, _ = state_of(lonely)
    embedding, _ = encoder(Batch.of([state]))
    assert torch.isfinite(embedding).all()
