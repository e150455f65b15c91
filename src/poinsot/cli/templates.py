"""Scenarios to start from, with comments that explain them."""

BODY = """
# A body in free flight. Numbers are in SI units, or texts with a unit: "5 lb", "30 deg", "2400 rpm".
title = "A spinning book"
gravity = [0, 0, -9.81]        # m/s^2, z is up; 0 for none

[run]
duration = "2 s"
step = "1 ms"
# every = "10 ms"              # interval between records
# method = "splitting4"        # by default chosen to suit the world
# until = "altitude < 0"       # a condition that ends the run

[show]
draw = "book.angular_velocity.x"   # drawn in the terminal

[[body]]
name = "book"
position = [0, 0, 1.5]         # of its origin, in the world
velocity = [0, 0, 6]           # of its origin, in world axes
angular_velocity = ["1 turn/s", 0.05, 0]    # in body axes
# orientation = { roll = "10 deg", pitch = 0, yaw = "90 deg" }

[[body.shape]]                 # any number of them; the body is their sum
kind = "box"                   # box, sphere, cylinder, capsule, cone, ellipsoid, rod, plate, disc, mesh, points
size = ["15 cm", "23 cm", "3 cm"]
mass = "600 g"                 # or density = "0.8 g/cm^3"

# [[body.force]]               # a formula in time and the body's motion
# name = "drag"
# value = "-0.5*1.2*0.03*speed*velocity"
"""

PENDULUM = """
# Two links on hinges, the first driven by a motor. Numbers are in SI units, or texts with a unit.
title = "A double pendulum with a motor"

[run]
duration = "5 s"
step = "1 ms"

[show]
draw = "lower.q"

[constants]                    # numbers for formulas, by name
swing = 2.0

[[body]]
name = "upper"
joint = { kind = "revolute", axis = [0, 1, 0], damping = "0.01 N m s/rad" }
placement = [0, 0, 2]          # of the joint in its parent, here the world
q = "60 deg"                   # initial angle; v: initial angular velocity
shape = [{ kind = "capsule", radius = "3 cm", height = "0.5 m", mass = 1, position = [0, 0, -0.25] }]

[[body]]
name = "lower"
parent = "upper"
joint = { kind = "revolute", axis = [0, 1, 0], damping = "0.01 N m s/rad" }
placement = [0, 0, -0.5]
shape = [{ kind = "capsule", radius = "3 cm", height = "0.5 m", mass = 1, position = [0, 0, -0.25] }]

[[motor]]
name = "drive"
joint = "upper"
value = "swing*sin(2*pi*t)"    # N m; also a number, { times = [0, 1], values = [0, 2] }, or an input
limit = "1.5 N m"

# [[joint_stop]]               # stops at the ends of its range
# name = "stop"
# joint = "lower"
# lower = "-120 deg"
# upper = "120 deg"
"""

SPRINGS = """
# A box on a spring, and a point mass on the box. Numbers are in SI units, or texts with a unit.
title = "A box on a spring"

[run]
duration = "5 s"
step = "1 ms"

[show]
draw = "box.position.z"

[[body]]
name = "box"
position = [0, 0, -0.6]
shape = [{ kind = "box", size = [0.2, 0.2, 0.2], density = "700 kg/m^3" }]

[[particle]]
name = "bob"
mass = "200 g"
position = [0.3, 0, -1.0]

[[spring]]                     # between points of two bodies, or a body and the "world"
name = "hanger"
a = "world"
b = "box"
point_b = [0.05, 0.1, 0.1]     # in the frame of the box
stiffness = "2 N/cm"
rest_length = "30 cm"
damping = "0.5 N s/m"

[[spring]]
name = "tether"
a = "box"
b = "bob"
stiffness = "50 N/m"
rest_length = "30 cm"
# tension = "stiffness*max(length - rest_length, 0)"    # a custom law: a rope
"""

GROUND = """
# A box thrown onto the ground. Numbers are in SI units, or texts with a unit.
title = "A box tumbles over the ground"

[run]
duration = "3 s"
step = "0.2 ms"

[show]
draw = "box.position.z"

[[body]]
name = "box"
position = [0, 0, 1]
velocity = [2, 0, 0]
angular_velocity = [1, 5, 0]   # in body axes
shape = [{ kind = "box", size = [0.3, 0.2, 0.1], density = "500 kg/m^3" }]

[[body.contact]]               # points that may touch the ground, z = 0
name = "corners"
points = [
    [0.15, 0.1, 0.05], [0.15, 0.1, -0.05], [0.15, -0.1, 0.05], [0.15, -0.1, -0.05],
    [-0.15, 0.1, 0.05], [-0.15, 0.1, -0.05], [-0.15, -0.1, 0.05], [-0.15, -0.1, -0.05],
]
stiffness = "20 kN/m"          # per point
damping = "0.6 s/m"            # energy loss of impacts
friction = 0.5
"""

ROCKET = """
# A rocket that burns its propellant. Numbers are in SI units, or texts with a unit.
title = "A small rocket"

[run]
duration = "20 s"
step = "2 ms"
until = "altitude < -1"        # after landing

[show]
draw = "rocket.position.z"

[constants]
rho = "1.225 kg/m^3"
CdA = "20 cm^2"

[[body]]
name = "rocket"
shape = [{ kind = "cylinder", radius = "4 cm", height = "1.2 m", mass = "2 kg" }]

[[body.tank]]                  # its contents are a state; the rocket's mass and inertia follow
name = "grain"
capacity = "0.6 kg"
contents = "0.6 kg"
position = [0, 0, -0.3]
radius = "3 cm"
height = "40 cm"

[[body.thruster]]
name = "engine"
tank = "grain"
thrust = { times = [0, 0.1, 2.5, 2.6], values = [0, 400, 350, 0] }    # N, interpolated over time
exhaust_speed = "2000 m/s"     # specific impulse times 9.80665 m/s^2
point = [0, 0, -0.6]

[[body.force]]
name = "drag"
value = "-0.5*rho*CdA*speed*velocity"
"""

TEMPLATES = {"body": BODY, "pendulum": PENDULUM, "springs": SPRINGS, "ground": GROUND, "rocket": ROCKET}
