"""Scenarios that are wrong, each in one way, and what is said about them: file, line, path, value, what was expected."""

RUN = "[run]\nduration = 1\n"
BOX = '[[body]]\nname = "box"\nshape = [{ kind = "box", size = [0.1, 0.2, 0.3], mass = 1 }]\n'
ARM = """[[body]]
name = "arm"
joint = { kind = "revolute", axis = [0, 1, 0] }
shape = [{ kind = "sphere", radius = 0.1, mass = 1, position = [1, 0, 0] }]
"""
FORCE = '[[force]]\nname = "f"\nbody = "box"\n'
BALL = '[[body]]\nname = "ball"\n[[body.shape]]\nkind = "sphere"\n'

# What is wrong: the scenario, and the messages. The folder that files are looked for in is called "nowhere".
CASES: dict[str, tuple[str, list[str]]] = {
    "not TOML": (
        "title = \n",
        [
            "x.toml:1: this is not TOML: Invalid value, in column 9.",
        ],
    ),
    "a table twice": (
        RUN + RUN,
        [
            "x.toml:3: this is not TOML: Cannot declare ('run',) twice, in column 5.",
        ],
    ),
    "an empty file": (
        "",
        [
            "x.toml: run: missing; expected a table [run] with a duration [s].",
        ],
    ),
    "no bodies": (
        RUN,
        [
            "x.toml: there is nothing in it; expected a body, [[body]].",
        ],
    ),
    "no run": (
        BOX,
        [
            "x.toml: run: missing; expected a table [run] with a duration [s].",
        ],
    ),
    "an unknown top key": (
        "gravitation = [0, 0, 0]\n" + RUN + BOX,
        [
            "x.toml:1: gravitation: there is no such key; did you mean 'gravity'?",
        ],
    ),
    "a table that is no list": (
        RUN + BOX + "[spring]\nname = 's'\n",
        [
            "x.toml:6: spring: expected a list of tables, [[spring]].",
        ],
    ),
    "a list that is no table": (
        "run = 3\n" + BOX,
        [
            "x.toml:1: run = 3: expected a table.",
        ],
    ),
    "no duration": (
        "[run]\nstep = 0.1\n" + BOX,
        [
            'x.toml:1: run.duration: missing; expected a time [s], such as "20 ms".',
        ],
    ),
    "a duration that is a mass": (
        '[run]\nduration = "3 kg"\n' + BOX,
        [
            'x.toml:2: run.duration = "3 kg": that is a mass; expected a time [s], such as "20 ms".',
        ],
    ),
    "a duration below zero": (
        "[run]\nduration = -1\n" + BOX,
        [
            'x.toml:2: run.duration = -1: must be above zero; expected a time [s], such as "20 ms".',
        ],
    ),
    "a duration that is nothing": (
        "[run]\nduration = nan\n" + BOX,
        [
            "x.toml:2: run.duration = NaN: expected a finite number.",
        ],
    ),
    "an unknown method": (
        RUN + 'method = "rk5"\n' + BOX,
        [
            'x.toml:3: run.method = "rk5": expected one of "euler", "midpoint", "rk4", "semi-implicit euler", "splitting", "splitting4", "poinsot", "poinsot4", "adaptive"; did you mean \'rk4\'?',
        ],
    ),
    "a method that does not fit": (
        RUN + 'method = "splitting"\n' + ARM,
        [
            "x.toml:3: run.method = \"splitting\": method 'splitting' is for free bodies and particles of given, constant mass; this world has joints, parts with states or free mass properties. Take 'rk4'.",
        ],
    ),
    "records between steps": (
        RUN + "step = 0.01\nevery = 0.015\n" + BOX,
        [
            "x.toml:4: run.every = 0.015: records every 0.015 s do not fall on steps of 0.01 s; take a multiple of the step, such as 0.02 s.",
        ],
    ),
    "an unknown record": (
        RUN + 'record = ["positon"]\n' + BOX,
        [
            "x.toml:3: run.record = [\"positon\"]: 'positon' cannot be recorded; did you mean 'position'?; there are position, orientation, velocity, angular_velocity, q, v, energy, kinetic_energy, momentum, angular_momentum, body_momentum, body_angular_momentum, body_kinetic_energy, acceleration, joint_force, reaction.",
        ],
    ),
    "a condition that is no formula": (
        RUN + "until = 3\n" + BOX,
        [
            "x.toml:3: run.until = 3: expected a formula, such as 'altitude(\"box\") < 0'.",
        ],
    ),
    "a condition with an unknown name": (
        RUN + 'until = "hight < 0"\n' + BOX,
        [
            "x.toml:3: run.until = \"hight < 0\": 'hight' is not known here; define it under [constants].",
        ],
    ),
    "a condition of which body": (
        RUN + 'until = "altitude < 0"\n' + BOX + ARM,
        [
            'x.toml:3: run.until = "altitude < 0": \'altitude\' of which body? Say altitude("name").',
        ],
    ),
    "gravity of two numbers": (
        "gravity = [0, 1]\n" + RUN + BOX,
        [
            'x.toml:1: gravity = [0, 1]: expected three numbers [m/s^2], or how strong it is downwards, such as "9.81 m/s^2".',
        ],
    ),
    "gravity in metres": (
        'gravity = "9.81 m"\n' + RUN + BOX,
        [
            'x.toml:1: gravity = "9.81 m": that is a length; expected an acceleration [m/s^2], such as "9.81 m/s^2".',
        ],
    ),
    "a constant that is no number": (
        RUN + '[constants]\nrho = "thick"\n' + BOX,
        [
            'x.toml:4: constants.rho = "thick": expected a number.',
        ],
    ),
    "a constant with a taken name": (
        RUN + "[constants]\nspeed = 3\n" + BOX,
        [
            "x.toml:4: constants.speed = 3: this name means something in formulas; choose another.",
        ],
    ),
    "a constant with a dash": (
        RUN + '[constants]\n"lift-off" = 3\n' + BOX,
        [
            "x.toml:4: constants.lift-off = 3: a name in formulas has letters, digits and _ only.",
        ],
    ),
    "a body without name": (
        RUN + "[[body]]\ninertia = { mass = 1 }\n",
        [
            'x.toml:3: body[0].name: missing; expected a name, such as "box".',
        ],
    ),
    "two bodies of one name": (
        RUN + BOX + BOX,
        [
            'x.toml:7: body[1].name = "box": body[0] has this name already.',
        ],
    ),
    "a name with a dot": (
        RUN + '[[body]]\nname = "a.b"\nshape = [{ kind = "box", size = [0.1, 0.2, 0.3], mass = 1 }]\n',
        [
            "x.toml:4: body[0].name = \"a.b\": 'a.b' cannot be the name of a body: it needs one or more letters, without dots, brackets and spaces.",
        ],
    ),
    "an unknown key of a body": (
        RUN + BOX + "velosity = [1, 0, 0]\n",
        [
            "x.toml:6: body[0].velosity: there is no such key; did you mean 'velocity'?",
        ],
    ),
    "a position of two numbers": (
        RUN + BOX + "position = [1, 2]\n",
        [
            "x.toml:6: body[0].position = [1, 2]: expected a list of three numbers [m].",
        ],
    ),
    "a position that is text": (
        RUN + BOX + 'position = "here"\n',
        [
            'x.toml:6: body[0].position = "here": expected a length [m], such as "10 cm".',
        ],
    ),
    "a position with a wrong entry": (
        RUN + BOX + 'position = [1, 2, "3 s"]\n',
        [
            'x.toml:6: body[0].position = [1, 2, "3 s"]: entry 2 is "3 s": that is a time; expected a length [m], such as "10 cm".',
        ],
    ),
    "an unknown unit": (
        RUN + BOX + 'position = [1, 2, "3 metrs"]\n',
        [
            'x.toml:6: body[0].position = [1, 2, "3 metrs"]: entry 2 is "3 metrs": there is no unit \'metrs\' (did you mean \'metre\'?); expected a length [m], such as "10 cm".',
        ],
    ),
    "a frequency for a spin": (
        RUN + BOX + 'angular_velocity = ["50 Hz", 0, 0]\n',
        [
            'x.toml:6: body[0].angular_velocity = ["50 Hz", 0, 0]: entry 0 is "50 Hz": that is a frequency; expected an angular velocity [rad/s], such as "2400 rpm".',
        ],
    ),
    "an unknown shape": (
        RUN + '[[body]]\nname = "b"\n[[body.shape]]\nkind = "cilinder"\n',
        [
            "x.toml:6: body[0].shape[0].kind = \"cilinder\": there is no such kind; did you mean 'cylinder'?",
        ],
    ),
    "a shape without kind": (
        RUN + '[[body]]\nname = "b"\n[[body.shape]]\nradius = 1\n',
        [
            "x.toml:5: body[0].shape[0].kind: missing; expected what kind it is.",
        ],
    ),
    "a misspelt radius": (
        RUN + BALL + "raduis = 1\nmass = 1\n",
        [
            'x.toml:5: body[0].shape[0].radius: missing; expected a length [m], such as "10 cm".',
            "x.toml:7: body[0].shape[0].raduis: there is no such key; did you mean 'radius'?",
        ],
    ),
    "a negative radius": (
        RUN + BALL + "radius = -1\nmass = 1\n",
        [
            "x.toml:7: body[0].shape[0].radius = -1: Sphere: radius = -1.0 must be positive [m].",
        ],
    ),
    "neither mass nor density": (
        RUN + BALL + "radius = 1\n",
        [
            "x.toml:5: body[0].shape[0]: give either mass or density.",
        ],
    ),
    "a density that is a mass": (
        RUN + BALL + 'radius = 1\ndensity = "1 kg"\n',
        [
            'x.toml:8: body[0].shape[0].density = "1 kg": that is a mass; expected a number [kg/m^3 or kg/m^2 or kg/m].',
        ],
    ),
    "a mesh that is not there": (
        RUN + '[[body]]\nname = "b"\n[[body.shape]]\nkind = "mesh"\nfile = "no.stl"\ndensity = 1\n',
        [
            "x.toml:7: body[0].shape[0].file = \"no.stl\": there is no file 'nowhere/no.stl'.",
        ],
    ),
    "a negative mass": (
        RUN + '[[body]]\nname = "b"\ninertia = { mass = -1 }\n',
        [
            "x.toml:5: body[0].inertia.mass = -1: mass = -1.0 must be one positive, finite number [kg].",
        ],
    ),
    "an impossible moment": (
        RUN + '[[body]]\nname = "b"\ninertia = { mass = 1, moment = [1, 1, 5] }\n',
        [
            "x.toml:5: body[0].inertia.moment = [1, 1, 5]: principal moments 1, 1, 5 kg m^2: no mass distribution has one moment larger than the sum of the two others. Check the units, the signs of the products of inertia, and that the moment is taken about the com.",
        ],
    ),
    "a rigid rod": (
        RUN + '[[body]]\nname = "b"\nshape = [{ kind = "rod", length = 1, mass = 1 }]\n',
        [
            "x.toml:3: body[0]: the inertia that the joint of link 'b' has to move is singular: the mass lies on the joint's axis, or in a line or point. Give the link (or one that hangs on it) an inertia with extent, or use a joint with fewer degrees of freedom.",
        ],
    ),
    "an orientation twice": (
        RUN + BOX + "orientation = { roll = 1, axis = [1, 0, 0], angle = 1 }\n",
        [
            "x.toml:6: body[0].orientation: give wxyz, or some of roll, pitch and yaw, or axis and angle.",
        ],
    ),
    "a quaternion that is zero": (
        RUN + BOX + "orientation = [0, 0, 0, 0]\n",
        [
            "x.toml:6: body[0].orientation = [0, 0, 0, 0]: orientation of body 'box' is not a unit quaternion: its length is 0. Use spatial.quaternion.normalise(q).",
        ],
    ),
    "a parent that does not exist": (
        RUN + BOX + ARM + 'parent = "bxo"\n',
        [
            "x.toml:10: body[1].parent = \"bxo\": there is no such body; did you mean 'box'?",
        ],
    ),
    "parents in a circle": (
        RUN
        + ARM
        + 'parent = "b"\n[[body]]\nname = "b"\njoint = { kind = "revolute", axis = [0, 1, 0] }\nshape = [{ kind = "sphere", radius = 0.1, mass = 1, position = [1, 0, 0] }]\nparent = "arm"\n',
        [
            'x.toml:7: body[0].parent = "b": these bodies hang on each other in a circle.',
            'x.toml:12: body[1].parent = "arm": these bodies hang on each other in a circle.',
        ],
    ),
    "an unknown joint": (
        RUN
        + '[[body]]\nname = "arm"\njoint = { kind = "hinge", axis = [0, 1, 0] }\nshape = [{ kind = "sphere", radius = 0.1, mass = 1, position = [1, 0, 0] }]\n',
        [
            'x.toml:5: body[0].joint.kind = "hinge": there is no such kind; there are fixed, revolute, prismatic, helical, cylindrical, universal, planar, spherical, translation, free.',
        ],
    ),
    "a joint without axis": (
        RUN
        + '[[body]]\nname = "arm"\njoint = { kind = "revolute" }\nshape = [{ kind = "sphere", radius = 0.1, mass = 1, position = [1, 0, 0] }]\n',
        [
            "x.toml:5: body[0].joint.axis: missing; expected a list of three numbers.",
        ],
    ),
    "a joint with a zero axis": (
        RUN
        + '[[body]]\nname = "arm"\njoint = { kind = "revolute", axis = [0, 0, 0] }\nshape = [{ kind = "sphere", radius = 0.1, mass = 1, position = [1, 0, 0] }]\n',
        [
            "x.toml:5: body[0].joint.axis = [0, 0, 0]: the axis of a joint must not be the zero vector.",
        ],
    ),
    "a stiffness of the wrong kind": (
        RUN
        + '[[body]]\nname = "arm"\njoint = { kind = "revolute", axis = [0, 1, 0], stiffness = "3 N/m" }\nshape = [{ kind = "sphere", radius = 0.1, mass = 1, position = [1, 0, 0] }]\n',
        [
            'x.toml:5: body[0].joint.stiffness = "3 N/m": that is a stiffness; expected a stiffness against turning [N m/rad], such as "0.5 N m/deg".',
        ],
    ),
    "q and position": (
        RUN + ARM + "q = 1\nposition = [1, 0, 0]\n",
        [
            "x.toml:8: body[0].position = [1, 0, 0]: body 'arm': give either q of its joint or its position, not both.",
        ],
    ),
    "too many coordinates": (
        RUN + ARM + "q = [1, 2]\n",
        [
            "x.toml:7: body[0].q = [1, 2]: q of its revolute joint of body 'arm' needs 1 numbers, not array([1., 2.]).",
        ],
    ),
    "a start that the joint forbids": (
        RUN + ARM + "position = [1, 0, 0]\n",
        [
            "x.toml:3: body[0]: body 'arm' cannot start there: its revolute joint on 'the world' keeps it 1 m and 0 rad away. Give the joint's coordinates (q=...) instead, or move the parent or the placement.",
        ],
    ),
    "a spring to nowhere": (
        RUN + BOX + '[[spring]]\nname = "s"\na = "box"\nb = "bax"\nstiffness = 1\n',
        [
            "x.toml:9: spring[0].b = \"bax\": there is no body 'bax'; did you mean 'box'?",
        ],
    ),
    "a spring to itself": (
        RUN + BOX + '[[spring]]\nname = "s"\na = "box"\nb = "box"\nstiffness = 1\n',
        [
            "x.toml:6: spring[0]: spring 's' joins 'box' to itself; its ends must be two bodies, or a body and 'world'.",
        ],
    ),
    "a negative stiffness": (
        RUN + BOX + '[[spring]]\nname = "s"\na = "box"\nstiffness = -1\n',
        [
            "x.toml:9: spring[0].stiffness = -1: stiffness of spring 's' must be zero or more, not -1.0.",
        ],
    ),
    "a force without body": (
        RUN + BOX + '[[force]]\nname = "f"\nvalue = [0, 0, 1]\n',
        [
            "x.toml:6: force[0].body: missing; expected the name of a body.",
        ],
    ),
    "a force of two numbers": (
        RUN + BOX + FORCE + "value = [0, 1]\n",
        [
            "x.toml:9: force[0].value = [0, 1]: force 'f' gives an array of shape (2,); it needs (3,).",
        ],
    ),
    "a force in unknown axes": (
        RUN + BOX + FORCE + 'axes = "bdy"\n',
        [
            'x.toml:9: force[0].axes = "bdy": expected one of "world", "body"; did you mean \'body\'?',
        ],
    ),
    "a formula with an unknown name": (
        RUN + BOX + FORCE + 'value = [0, 0, "-k*speeed"]\n',
        [
            "x.toml:9: force[0].value = [0, 0, \"-k*speeed\"]: 'k' is not known here; define it under [constants].",
        ],
    ),
    "a formula that cannot be read": (
        RUN + BOX + FORCE + 'value = "2*(velocity"\n',
        [
            'x.toml:9: force[0].value = "2*(velocity": the formula cannot be read, near column 3.',
        ],
    ),
    "a formula with an attribute": (
        RUN + BOX + FORCE + 'value = "velocity.__class__"\n',
        [
            "x.toml:9: force[0].value = \"velocity.__class__\": 'velocity.__class__' cannot stand in a formula.",
        ],
    ),
    "a formula that calls": (
        RUN + BOX + FORCE + "value = \"__import__('os')\"\n",
        [
            "x.toml:9: force[0].value = \"__import__('os')\": there is no function '__import__'.",
        ],
    ),
    "a formula of the wrong shape": (
        RUN + BOX + FORCE + 'value = "speed"\n',
        [
            "x.toml:9: force[0].value = \"speed\": force 'f' gives an array of shape (); it needs (3,).",
        ],
    ),
    "a formula of an unknown body": (
        RUN + BOX + FORCE + "value = \"position('bax')\"\n",
        [
            "x.toml:9: force[0].value = \"position('bax')\": there is no body 'bax'; did you mean 'box'?",
        ],
    ),
    "code without leave": (
        RUN + BOX + FORCE + 'value = "os:getcwd"\n',
        [
            'x.toml:9: force[0].value = "os:getcwd": this names code, which a scenario may run only with --allow-code.',
        ],
    ),
    "a table over time that lacks values": (
        RUN + BOX + FORCE + "value = { times = [0, 1] }\n",
        [
            'x.toml:9: force[0].value: expected { times = [...], values = [...] } or { input = "name", factor = 1.0 }.',
        ],
    ),
    "an input that is not there": (
        RUN + ARM + '[[motor]]\nname = "m"\njoint = "arm"\nvalue = { input = "throttle" }\n',
        [
            "x.toml:10: motor[0].value: there is no input 'throttle'; define it under [inputs].",
        ],
    ),
    "a motor in a fixed joint": (
        RUN + BOX + '[[body]]\nname = "lid"\nparent = "box"\n[[motor]]\nname = "m"\njoint = "lid"\nvalue = 1\n',
        [
            "x.toml:9: motor[0]: Motor 'm': body 'lid' is fixed, it has no joint to move.",
        ],
    ),
    "more in the tank than it holds": (
        RUN + BOX + '[[body.tank]]\nname = "t"\ncapacity = 1\ncontents = 2\n',
        [
            "x.toml:8: body[0].tank[0].capacity = 1: tank 'box.t' holds 2.0 kg, but its capacity is 1.0 kg.",
        ],
    ),
    "a thruster without its tank": (
        RUN + BOX + '[[body.thruster]]\nname = "e"\ntank = "tnk"\nthrust = 1\n',
        [
            "x.toml:8: body[0].thruster[0].tank = \"tnk\": there is no element 'tnk'.",
        ],
    ),
    "a robot that is not there": (
        RUN + '[[model]]\nurdf = "no.urdf"\n',
        [
            "x.toml:4: model[0].urdf = \"no.urdf\": there is no file 'nowhere/no.urdf'.",
        ],
    ),
    "a beam without stiffness": (
        RUN + '[[beam]]\nname = "b"\nlength = 1\nmass_per_length = 1\n',
        [
            'x.toml:3: beam[0].EI: missing; expected a number [N m^2], such as "3 N m^2", or a formula in x.',
        ],
    ),
    "a sweep over nothing": (
        RUN + BOX + "[sweep]\nsamples = 3\n",
        [
            "x.toml:6: sweep.vary: missing; expected a table of paths and what they vary over.",
        ],
    ),
    "a limit that limits nothing": (
        RUN + BOX + ARM + '[[cut]]\nname = "c"\nbody = "arm"\n[[limit]]\nname = "l"\ncut = "c"\n',
        [
            "x.toml:13: limit[0]: limit 'l' limits nothing; give it one of axial, shear, bending, torsion, or a load.",
        ],
    ),
}
