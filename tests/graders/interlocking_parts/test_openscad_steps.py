"""Steps of OpenSCAD values, which limit the work of a program."""

from later import Later

library = Later("openscad_evaluator.evaluator")
steps = Later("scbench.graders.interlocking_parts.openscad_steps")


def test_product_of_matrices_takes_cubic_steps():
    costs = []
    for n in (100, 200):
        matrix = [[1.0] * n for _ in range(n)]
        costs.append(steps.product_cost(matrix, matrix))
    small, large = costs
    # Steps in proportion to the number of elements would give 4.
    assert 6 < large / small < 8


def test_elements_of_objects_are_counted():
    pair = [1.0, 2.0]
    value = library.OscObject({"a": pair, "b": pair})
    assert steps.extent(value) == 1 + 2 * steps.extent(pair)
