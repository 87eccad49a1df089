"""The words in which the rules of fluid_simulation are put to a model."""

from scbench.schemas.fluid_simulation import (
    DeepWater,
    ExactVolume,
    Goal,
    HiddenLakes,
    HiddenWater,
    HighWater,
    LakesOnLevels,
    LakeSurface,
    LargeLakes,
    Params,
    RingLake,
    WaterLevels,
    WideLakes,
    Zone,
)


def prompt_words(params: Params) -> dict[str, object]:
    """Return what the names in the templates of the prompts stand for."""
    ground = "".join(f"\n- {_box(box)}: {box.material}" for box in params.ground)
    if ground:
        ground = (
            " Then the ground was shaped by these boxes, in this order (both ends included, later "
            f"ones overwrite earlier ones):{ground}"
        )
    protected = "".join(f"\n- {_box(zone)}" for zone in params.protected)
    if protected:
        protected = (
            "The same holds for a box that shares even one voxel with a protected zone. The "
            f"protected zones (both ends included) are:{protected}\n"
        )
    limit = "There is no limit on the number of boxes."
    if params.max_boxes is not None:
        limit = (
            f"You may list at most {params.max_boxes} boxes, ignored ones included; a longer list "
            "scores 0."
        )
    return {
        "width": params.width,
        "height": params.height,
        "last": params.width - 1,
        "top": params.height - 1,
        "rock_top": params.rock_layers - 1,
        "ground": ground,
        "protected": protected,
        "limit": limit,
        "rain": ", ".join(f"({x}, {y})" for x, y in params.rain),
        "goal": goal_text(params.goal),
        "aim": brief_goal(params.goal),
    }


def _box(box: Zone) -> str:
    return ", ".join(
        f"{axis} = {a} to {b}" for axis, a, b in zip("xyz", box.low, box.high, strict=True)
    )


def goal_text(goal: Goal) -> str:
    """Return what is asked for and how it is scored."""
    match goal:
        case LakeSurface(min_columns=n):
            return (
                f"Make one lake with a large surface: at least {n} columns.\nScore: the number of "
                f"columns of the lake that has most, divided by {n}, at most 1."
            )
        case WideLakes(lakes=n, side=k):
            return (
                f"Make at least {n} separate lakes, each with a block of {k} x {k} columns (all "
                f"{k * k} of them columns of that lake).\nScore: the number of lakes with such a "
                f"block, divided by {n}, at most 1."
            )
        case HighWater(min_z=z, min_voxels=n):
            return (
                f"Make water stand high up: at least {n} voxels of water at z = {z} or above, in "
                f"one lake or in several.\nScore: the number of such voxels, divided by {n}, at "
                "most 1."
            )
        case HiddenWater(min_voxels=n):
            return (
                f"Make an underground lake: at least {n} voxels of water in all, and no visible "
                "water anywhere in the world.\nScore: 0 if any water is visible; otherwise the "
                f"number of voxels of water, divided by {n}, at most 1."
            )
        case LakesOnLevels(lakes=n, levels=k):
            return (
                f"Make at least {n} separate lakes that lie on at least {k} different levels. The "
                "level of a lake is the z at which it has most voxels (the lowest such z on a "
                f"tie).\nScore: if there are fewer than {n} lakes, their number divided by {n}; "
                f"otherwise the number of different levels of all lakes, divided by {k}, at most 1."
            )
        case DeepWater(min_depth=n):
            return (
                f"Make deep water: at least {n} voxels of water directly above each other in one "
                f"column.\nScore: the longest such run without a gap, divided by {n}, at most 1."
            )
        case LargeLakes(lakes=n, min_voxels=size):
            return (
                f"Make at least {n} large separate lakes, each of at least {size} voxels of water."
                f"\nScore: the number of lakes of at least {size} voxels, divided by {n}, at most "
                "1."
            )
        case RingLake(dry_side=k):
            return (
                f"Make a ring-shaped lake: a single lake that closes round dry land of at least "
                f"{k} x {k} columns. Seen from above: take the columns of the lake; of all other "
                "columns, those that cannot be joined to a column on a side of the world by steps "
                "to neighbouring columns in x or y, avoiding the columns of the lake, are "
                f"enclosed. There must be a block of {k} x {k} columns that are all enclosed by "
                "the same lake and that hold no water of any lake.\nScore: 1 if there is, "
                "otherwise 0."
            )
        case WaterLevels(water_at=wet, dry_at=dry):
            none = f", and none at all at {_levels(dry, 'or')}" if dry else ""
            void = f"0 if there is any water at {_levels(dry, 'or')}; otherwise " if dry else ""
            return (
                f"Make water stand at {_levels(wet, 'and')}{none}. Other levels do not matter."
                f"\nScore: {void}the number of the levels {_levels(wet, 'and')} that have at least "
                f"one voxel of water, divided by {len(wet)}."
            )
        case ExactVolume(voxels=n):
            return (
                f"Make exactly {n} voxels of water in the whole world, in one lake or in several."
                f"\nScore: 1 - |v - {n}| / {n} for v voxels of water, but not below 0."
            )
        case HiddenLakes(lakes=n, min_voxels=size):
            return (
                f"Make at least {n} separate underground lakes, each of at least {size} voxels of "
                "water, with no visible water anywhere in the world.\nScore: 0 if any water is "
                f"visible; otherwise the number of lakes of at least {size} voxels, divided by "
                f"{n}, at most 1."
            )


def brief_goal(goal: Goal) -> str:
    """Return what is asked for, without definitions and score."""
    match goal:
        case LakeSurface(min_columns=n):
            return f"Make one lake whose surface has at least {n} voxels."
        case WideLakes(lakes=n, side=k):
            return f"Make at least {n} separate bodies of water, each at least {k} x {k} wide."
        case HighWater(min_z=z, min_voxels=n):
            return f"Make a lake with at least {n} voxels of water at z >= {z}."
        case HiddenWater(min_voxels=n):
            return (
                f"Make an underground lake of at least {n} voxels; seen from above, no water may "
                "be visible."
            )
        case LakesOnLevels(lakes=n, levels=k):
            return f"Make at least {n} lakes that lie on {k} different z levels."
        case DeepWater(min_depth=n):
            return f"Make a lake that is at least {n} voxels deep."
        case LargeLakes(lakes=n, min_voxels=size):
            return f"Make at least {n} lakes of at least {size} voxels each."
        case RingLake(dry_side=k):
            return f"Make a ring-shaped lake around dry land of at least {k} x {k}."
        case WaterLevels(water_at=wet, dry_at=dry):
            none = f", but none at {_levels(dry, 'or')}" if dry else ""
            return f"Make water stand at {_levels(wet, 'and')}{none}."
        case ExactVolume(voxels=n):
            return f"Make exactly {n} voxels of water."
        case HiddenLakes(lakes=n, min_voxels=size):
            return (
                f"Make at least {n} separate underground lakes of at least {size} voxels each; "
                "seen from above, no water may be visible."
            )


def _levels(levels: tuple[int, ...], word: str) -> str:
    *earlier, last = [f"z = {z}" for z in levels]
    return f"{', '.join(earlier)} {word} {last}" if earlier else last
