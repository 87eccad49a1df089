"""The call of the physics engine: one blast's balls on the ground, simulated in PyBullet.

A file for `scbench.machine.physics`, run by a Python that has PyBullet but may not have scbench.
"""

import pybullet

# The settings of the paper's simulation, in metres, kilograms and seconds.
GRAVITY = -9.81
STEPS_PER_SECOND = 240
STEPS = 360
SOLVER_ITERATIONS = 50
BALL_RADIUS = 0.2
BALL_MASS = 0.1
LATERAL_FRICTION = 0.9
ROLLING_FRICTION = 0.05

_client: int = pybullet.connect(pybullet.DIRECT)


def roll(numbers: list[float]) -> list[float]:
    """Let balls fall on the ground for `STEPS` steps and return x, y and z of each one then.

    The results equal those of a client opened only for this call: a reset recreates the
    whole world including its solver, and all parameters are set again. Removing single
    bodies would keep the solver's state and change the results. Bullet centres the
    ground on the middle of its lowest and highest point, so the balls drop by about
    that much; published scores include this drop.

    Args:
        numbers: n, the n * n heights of the ground, and x, y and z of each ball.
    """
    n = int(numbers[0])
    heights = numbers[1 : n * n + 1]
    places = numbers[n * n + 1 :]
    starts = [places[i : i + 3] for i in range(0, len(places), 3)]
    pybullet.resetSimulation(physicsClientId=_client)
    pybullet.setGravity(0, 0, GRAVITY, physicsClientId=_client)
    # All steps as substeps of one long step: one command instead of 360 gives the same
    # numbers.
    pybullet.setPhysicsEngineParameter(
        fixedTimeStep=STEPS / STEPS_PER_SECOND,
        numSubSteps=STEPS,
        numSolverIterations=SOLVER_ITERATIONS,
        deterministicOverlappingPairs=1,
        physicsClientId=_client,
    )
    # Without a visual shape, every body would be meshed for rendering, which for the
    # ground takes longer than the simulation.
    looks = pybullet.createVisualShape(
        pybullet.GEOM_BOX, halfExtents=[1, 1, 1], physicsClientId=_client
    )
    ground = pybullet.createCollisionShape(
        pybullet.GEOM_HEIGHTFIELD,
        meshScale=[1, 1, 1],
        heightfieldTextureScaling=n / 2,
        heightfieldData=heights,
        numHeightfieldRows=n,
        numHeightfieldColumns=n,
        physicsClientId=_client,
    )
    pybullet.createMultiBody(
        0, ground, looks, basePosition=[n / 2, n / 2, 0], physicsClientId=_client
    )
    ball = pybullet.createCollisionShape(
        pybullet.GEOM_SPHERE, radius=BALL_RADIUS, physicsClientId=_client
    )
    pybullet.createMultiBody(
        BALL_MASS, ball, looks, batchPositions=starts, physicsClientId=_client
    )
    # The ground is body 0, the balls follow in order.
    balls = range(1, len(starts) + 1)
    for body in balls:
        pybullet.changeDynamics(
            body,
            -1,
            lateralFriction=LATERAL_FRICTION,
            rollingFriction=ROLLING_FRICTION,
            spinningFriction=ROLLING_FRICTION,
            physicsClientId=_client,
        )
    pybullet.stepSimulation(physicsClientId=_client)
    places = []
    for body in balls:
        place, _ = pybullet.getBasePositionAndOrientation(body, physicsClientId=_client)
        places += place
    return places
