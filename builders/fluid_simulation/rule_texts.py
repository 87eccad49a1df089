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

_WORLD = """\
Reshape a small world of rock so that rain leaves the right standing water in it.

THE WORLD
It is a grid of {width} x {width} x {height} cubic cells, called voxels. x and y run from 0 to \
{last}, z from 0 (the bottom) to {top} (upwards). A column is all voxels with the same x and y. \
At the start the layers z = 0 to z = {rock_top} are rock and all others are air.{ground}

EARTHWORKS
You give a list of boxes. Each has a corner xyzMin, a corner xyzMax and a material, "Air" or \
"Rock". Both corners belong to the box: it holds all voxels with xyzMin[i] <= coordinate <= \
xyzMax[i] on each of the three axes. Boxes are carried out in the order of the list; every voxel \
of a box takes its material, so later boxes overwrite earlier ones. Coordinates should be whole \
numbers; of any other the part after the decimal point is dropped. A box that is not wholly inside \
the world, has a number of xyzMin above that of xyzMax, or is not of the form below is ignored as \
a whole; it is not cut to fit. {protected}{limit}

LOOSE ROCK
After all earthworks, and before the rain, rock without support falls. Rock voxels that share \
faces form one rigid piece. A piece with a voxel at z = 0 stays where it is. Any other piece falls \
straight down, without turning or breaking, as far as it can before it would run into other rock \
or leave the world at the bottom. In one pass the loose pieces fall one after the other, in the \
order of their first voxels (smallest x, then smallest y, then smallest z), each at once. Then \
the pieces are found anew (pieces that touch have become one) and there is another pass, until a \
pass moves nothing. Falling costs nothing. Once it rains, rock never moves.

RAIN
Drops come one at a time; a drop is finished before the next one starts. First every column gets \
one drop: x = 0 with y = 0, 1, ..., {last}, then x = 1, and so on. Then come rounds of one drop on \
each of these columns (x, y), in this order: {rain}. There are as many rounds as it takes, \
thousands if need be: the rain ends with the first round in which every drop is lost, since from \
then on nothing could change. There is no evaporation, and a voxel of water never moves again.

A drop starts at the top voxel (z = {top}) of its column, whatever is there, even rock or water. \
Then these steps are repeated until it is lost or rests:

1. At z = 0 the drop is lost. So is every drop that gets that far down: a pit dug down to z = 0 \
drains for ever.
2. If the voxel just below is air (neither rock nor water), the drop falls by one. Back to step 1.
3. Otherwise it spreads on its own level z. Voxels are visited in breadth-first order from the \
drop's voxel, through voxels on this level that are not rock (water is passable), the neighbours \
of each voxel in the order x+1, x-1, y+1, y-1. The drop's own voxel is visited first even if it is \
rock. A visited voxel on a side of the world (x or y equal to 0 or {last}) is never a way down \
and the search does not go on from it; it is only noted that the water reaches a side. Any other \
visited voxel with air just below it is a way down.
4. If there is a way down, the drop moves to the one visited first and falls by one from there. \
Back to step 1. A way down wins even if a side is nearer.
5. If there is none and a side was reached, the drop is lost over the side. Water that can flow \
along its level to a side column therefore never stays.
6. Otherwise the drop rests. Of all visited voxels that are still air, the one visited last (the \
farthest, in the order of the search) turns into water. If none is air, the drop is lost.

So water fills a basin level by level, an overfull basin spills over its lowest rim, a voxel of \
water carries drops like a floor, and water neither rises under pressure nor through siphons. \
Example: a 5 x 5 slab of rock that lies on flat ground at z = 3, with its inner 3 x 3 voxels \
removed, ends up holding 9 voxels of water under ample rain.

WORDS
A lake is a set of water voxels connected by shared faces (so two voxels that only touch along an \
edge or at a corner are not connected by that). The columns of a lake are the different (x, y) in \
which it has water, with or without rock above. Water is visible if there is no rock anywhere \
above it in its column; otherwise it is underground.

GOAL
{goal} What counts is the water after the rain.

"""


def prompt_rules(params: Params) -> str:
    """Return everything the prompt says before the form of the answer."""
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
    return _WORLD.format(
        width=params.width,
        height=params.height,
        last=params.width - 1,
        top=params.height - 1,
        rock_top=params.rock_layers - 1,
        ground=ground,
        protected=protected,
        limit=limit,
        rain=", ".join(f"({x}, {y})" for x, y in params.rain),
        goal=goal_text(params.goal),
    )


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


def _levels(levels: tuple[int, ...], word: str) -> str:
    *most, last = [f"z = {z}" for z in levels]
    return f"{', '.join(most)} {word} {last}" if most else last
