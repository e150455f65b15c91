"""Small files of every format that Poinsot reads as text, each with its reader: the seeds of the fuzzer of texts."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import poinsot as pt


class Sample(NamedTuple):
    """The text of a file, the name that it is written under, and what reads it."""

    file: str
    text: str
    read: Callable[[Path], object]


URDF = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 0.2" rpy="0 0 0.1"/><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0.01" iyy="0.1" iyz="0" izz="0.02"/></inertial></link>
<link name="lower"><inertial><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.02"/></inertial>
<visual><geometry><box size="1 1 1"/></geometry></visual>
<collision><origin xyz="0 0 0.1"/><geometry><cylinder radius="0.1" length="1"/></geometry></collision></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 1"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="3"/>
<dynamics damping="0.1" friction="0.2"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><axis xyz="1 0 0"/>
<mimic joint="shoulder" multiplier="2"/></joint></robot>"""
MJCF = """<mujoco><compiler angle="degree"/><option gravity="0 0 -9.81" timestep="0.002"/>
<default><geom friction="0.8 0.01 0.001" condim="4"/></default><worldbody><geom type="plane" size="1 1 1"/>
<body name="a" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.3" mass="1"/>
<body name="b" pos="0.2 0 0" quat="1 0 0 0"><joint name="h" type="hinge" axis="0 1 0" range="-30 30" damping="0.1"/>
<geom name="foot" type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" contype="2" margin="0.001"/>
<inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/></body></body></worldbody>
<equality><joint joint1="h" polycoef="0 1 0 0 0"/></equality><contact><exclude body1="a" body2="b"/></contact>
<actuator><motor joint="h" gear="2" ctrlrange="-1 1"/><position joint="h" kp="3"/></actuator>
<keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.1"/></keyframe></mujoco>"""
SDF = """<sdf version="1.9"><model name="linkage"><pose>0 0 1 0 0 0</pose>
<frame name="right" attached_to="ground"><pose>2 0 0 0 0 0</pose></frame>
<link name="ground"><inertial><mass>5</mass>
<inertia><ixx>0.01</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
<link name="crank"><pose relative_to="swing"/><inertial><mass>1</mass><pose>0.5 0 0 0 0 0</pose></inertial></link>
<link name="rocker"><pose relative_to="right">0.2 0 0 0 0 1.5</pose><inertial><mass>1</mass></inertial></link>
<joint name="base" type="fixed"><parent>world</parent><child>ground</child></joint>
<joint name="swing" type="revolute"><pose relative_to="ground">0 0 0 0 0 0.8</pose>
<parent>ground</parent><child>crank</child>
<axis><xyz>0 0 1</xyz><limit><lower>-3</lower><upper>1e16</upper></limit>
<dynamics><damping>0.2</damping></dynamics></axis></joint>
<joint name="other" type="prismatic"><parent>ground</parent><child>rocker</child>
<axis><xyz expressed_in="__model__">0 0 2</xyz></axis></joint></model></sdf>"""
DAVEML = """<DAVEfunc xmlns="http://daveml.org/2010/DAVEML"><fileHeader name="test"/>
<variableDef name="angleOfAttack" varID="alpha" units="deg" minValue="-20" maxValue="40"><isInput/></variableDef>
<variableDef name="mach" varID="M" units="nd" initialValue="0.3"><isInput/></variableDef>
<variableDef name="liftCoefficient" varID="CL" units="nd"/>
<variableDef name="lift" varID="L" units="lbf"><calculation><math xmlns="http://www.w3.org/1998/Math/MathML">
<apply><times/><cn type="rational">1<sep/>2</cn><ci>CL</ci><apply><power/><ci>M</ci><cn>2</cn></apply>
<apply><max/><ci>M</ci><cn>.5</cn><pi/></apply></apply></math></calculation><isOutput/></variableDef>
<breakpointDef bpID="alphas" name="alphas" units="deg"><bpVals>-10, 0, 10, 30</bpVals></breakpointDef>
<breakpointDef bpID="machs"><bpVals>0.2 0.9</bpVals></breakpointDef>
<griddedTableDef gtID="t" name="CL"><breakpointRefs><bpRef bpID="alphas"/><bpRef bpID="machs"/></breakpointRefs>
<dataTable>-0.5, -0.6,
0.0, 0.0, <!-- the last varies fastest -->
1.0, 1.4, 1.2, 1.0</dataTable></griddedTableDef>
<function name="CL_fn"><independentVarRef varID="alpha" min="-10" max="40" extrapolate="max"/>
<independentVarRef varID="M" extrapolate="neither"/><dependentVarRef varID="CL"/>
<functionDefn name="CL_def"><griddedTableRef gtID="t"/></functionDefn></function>
<checkData><staticShot name="ten degrees"><checkInputs>
<signal><signalName>angleOfAttack</signalName><signalUnits>deg</signalUnits><signalValue>10</signalValue></signal>
<signal><signalName>mach</signalName><signalUnits>nd</signalUnits><signalValue>0.2</signalValue></signal></checkInputs>
<checkOutputs><signal><signalName>lift</signalName><signalUnits>lbf</signalUnits>
<signalValue>0.0628318530717958</signalValue><tol>1e-9</tol></signal></checkOutputs></staticShot></checkData></DAVEfunc>"""
ENG = """; a motor
K1 66 700 0-6 2.96 4.9 Us and Co
0.1 1500
1.2 2100
2.5 1700
3.9 0
; the next
A2 18 70 P 0.01 0.02 Us
0.0 5.0
0.5 0.0
"""
TLE = """ISS (ZARYA)
1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927
2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537
"""
TABLE = """alpha [deg], mach, CL, CD
-10, 0.2, -0.5, 0.05
0, 0.2, 0, 0.02
10, 0.2, 0.5, 0.05
-10, 0.9, -0.6, 0.07
0, 0.9, 0, 0.03
10, 0.9, 0.7, 0.08
"""
FLIGHT = """t,elevator,throttle
0.0,0.0,0.5
0.25,-0.1,0.5
1.5,0.1,1.0
3.0,end,end
"""

SAMPLES = {
    "URDF": Sample("robot.urdf", URDF, pt.load_urdf),
    "MJCF": Sample("robot.xml", MJCF, pt.load_mjcf),
    "SDF": Sample("robot.sdf", SDF, pt.load_sdf),
    "DAVE-ML": Sample("model.dml", DAVEML, pt.load_daveml),
    "thrust curve": Sample("motor.eng", ENG, lambda path: pt.load_eng(path, "K1")),
    "two-line elements": Sample("orbit.tle", TLE, pt.load_tle),
    "table": Sample("table.csv", TABLE, lambda path: pt.load_table(path, {"alpha": "deg", "mach": "1"})),
    "flight": Sample("flight.csv", FLIGHT, pt.load_flight),
}
