"""The encoder on rows equals the formulas between people, alone and in batches."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from learning_cases import expanded, graphs

from claim.discovery import Discovered
from claim.learning.network import Encoder, smooth
from claim.learning.observation import Batch, State, class_rows, person_rows

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


def test_person_rows_and_class_rows_agree(encoder: Encoder) -> None:
    discovered = graphs()[1]
    state, members = state_of(discovered)
    people = person_rows(discovered)
    by_person = State.of(people, expanded(state.features, members, len(discovered)))
    torch.testing.assert_close(encoder(Batch.of([by_person]))[0], encoder(Batch.of([state]))[0], atol=1e-5, rtol=1e-4)


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
