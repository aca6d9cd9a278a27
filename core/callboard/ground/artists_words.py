"""Words that artists use, each with the words that applications and recipes use for the same
thing."""

from __future__ import annotations

#: In each line, the words that applications and recipes use are before the colon, and the words
#: that artists use for the same thing are after it. In a line without a colon, all words mean the
#: same thing.
WORDS = """
light lamp
delete remove erase
hide invisible unseen vanish disappear
duplicate copy clone instance
import load bring
export save write
split separate detach
noise grain fireflies denoise
cloth fabric drape
water fluid liquid
sky world environment background hdri
glow emission neon
shiny glossy reflective metallic mirror
transparent alpha opacity glass
blur focus dof
loop cycle repeat
rotate turn spin orbit rotation
move place position location translate
size scale dimensions resize
texture image photo
armature rig skin weights
attach parent hang
text letters font lettering
bend deform twist warp
hole gap opening
swap replace exchange substitute
unused orphan purge
crash recover autosave backup
measure distance length
simulation physics dynamics
keys keyframe animation
thickness solidify thicken
smooth rounded shade
reduce decimate simplify lower
dark bright exposure energy
lock protect freeze
path track rail
hair fur strands
grid lattice cage
select pick choose
cut slice trim chop
video movie film footage clip
sound audio music
slow laggy sluggish lag stutter
shadow shade
pose rest
join: unite glue one piece single together weld fuse attach assemble become combined gather unify
join: whole solid
separate: disconnect apart pieces unglue explode individual tear rip divide break cut extract pull
separate: copy duplicate faces part
boolean: carve engrave drill punch hollow subtract intersect cutout notch window door slot keyhole
boolean: socket pocket screws holes vent tunnel dig bite pierce stamp donut hole letters cavity
boolean: difference union
bevel: chamfer fillet pointy rounded blunt sharp corner soften chamfered edge rounder razor hard
bevel: softly blunted phone dice
extrude: pull push raise thicken grow stretch outward protrude chimney relief emboss extend lengthen
extrude: elongate lift heighten upwards upward outwards pillar building wall storey floor
array copies: row rows grid fence stairs staircase steps tiles columns bricks circle around repeat
array copies: multiple
duplicate: multiply again another more
scatter points: forest trees meadow field lawn daisies daisy flowers flower leaves grass pebbles
scatter points: stones gravel rocks crowd debris sprinkle spread thousand hundreds many distribute
scatter points: plants vegetation
decimate count: heavy lightweight low fewer too many optimise optimize statue scan scanned lod
subdivide: detail denser finer resolution more pores wrinkles turn low smooth rounder smoother round
subdivide: head organic refine
multires sculpting: pores wrinkles skin fine detail
sculpting: sculpt sculpted clay zbrush cheek nose face head brush brushes tablet pen pressure carve
mask: protect part only region area
mirror symmetrical: half halves left right other side symmetric both opposite
fill: close cap gap patch missing cover seal lid bottom roof top
solidify thickness: thick thin walls wall shell hollow
manifold check: watertight printer printing print printable leak holes errors
boolean artifacts: weird ugly glitch artifact
shading: weird crease dark patches streaks ugly artefact artifact faceted blocky
normals: inverted inside backwards flipped backface transparent see through black dark shade wrong
normals: lighting
curve: cable wire rope hose pipe tube road river string thread vine vines snake tail tentacle track
curve: ribbon rail handrail roller coaster cables
svg vector: illustrator inkscape sketch outline logo drawing coreldraw affinity
text: name words title inscription signature caption logo letter number numbers digits sign subtitle
text: headline
unwrap: unfold flat unroll flatten peel lay wraps wrapped wrapping distorted warped skewed slanted
unwrap: label can
seam: cut stitch unfold line join visible where meets border
islands: shells pieces
texel density: bigger smaller checker checkerboard uneven stretched
mapping repeat: tile tiling smaller bigger repeating pattern wallpaper bricks
material: look surface shader finish appearance wet leather sofa plastic bag rubber tire tyre
material: asphalt concrete cement stone paper cardboard wood wooden parquet plank ceramic porcelain
material: clay plaster chalk denim wool bread cheese chocolate soap foil tin glitter gravel paint
material: painted coated snow ice shiny floor sand lava slime jelly honey skin carpet grass dirt
material: ground rock pottery candy sugar pearl bone ivory wall tiles roof
roughness: matte dull frosted polished satin glossy wet smooth blurry
transmission glass: frosted bottle window crystal diamond jewel gem lens transparent clear ice
metallic metal: gold golden silver copper brass bronze steel iron aluminium aluminum chrome necklace
metallic metal: ring jewelry jewellery coin knife sword
subsurface skin: wax candle marble milk jade ear translucent flesh fruit
emission glow: neon led screen shine luminous glowing shining lit bulb lantern
bump displacement: relief bumpy cracks scratches bricks dents leather bark
procedural noise: pattern wood marble clouds rust random
edge wear: rust scratched worn old aged weathered dirty grunge damaged chipped edges
velvet sheen: fabric cloth carpet felt sofa silk
leaves alpha: foliage cutout fence hair card
decal logo: sticker label mug print stamp emblem badge brand tattoo poster
reflections: reflection reflect reflects reflective mirror mirrors puddle glossy shiny
environment hdri sky: outdoor outside clouds cloudy sunset overcast surroundings daylight
sun daylight: sunlight sunny sunshine noon morning evening afternoon sunset sunrise dusk dawn 6pm pm
sun daylight: am
lamp light: street lantern bulb candle torch headlight headlights spotlight strip ceiling
brighter darker: strong weak intense dim bright dark black pitch overexposed underexposed blown
brighter darker: burnt
exposure dark: black pitch dim gloomy night underexposed
three point lighting: portrait studio photographer softbox product flattering
volumetric fog: dust beams rays ray god godrays misty foggy hazy haze atmosphere shaft shafts
volumetric fog: headlight
soft shadow: hard harsh crisp sharp
interior room: indoor indoors apartment kitchen bathroom house flat
wide angle lens: zoom telephoto fisheye fov
camera: shot framing viewpoint angle picture
orthographic: parallel distortion floor plan top above blueprint flat isometric axonometric
orthographic: technical
depth field: crisp bokeh sharp blurry out background foreground soft close macro tiny zone portrait
depth field: miniature tilt shift dreamy blurred
look target: pointing point follow facing aim track watch
noisy samples: speckles speckle dots grainy specks dotted spots dirty
fireflies: dots sparkles speckles spots sparkling glitter white
transparent background: nothing behind cutout freestanding isolated webshop shop png
resolution pixels: big poster large print 4k hd size dpi
video: mp4 youtube vimeo mov avi gif tiktok instagram reel
overwrite resume: continue stopped overnight interrupted again rest
render faster: slow long hours forever eternity quick
shadow catcher: real photo footage integrate composite ground floor contact
alpha over: real video photo composite integrate overlay
camera tracking: real video footage filmed match handheld phone insert monster
glare glow: bloom dreamy halo flare sparkle star streaks shine
keying: greenscreen bluescreen chroma green
color correction: grading grade contrast saturation moody warm tint sepia
cycles loop: endlessly endless forever infinite continuous repeat constantly spinning always
keyframe: animate animated moving movement move motion jump bounce bouncing frame time key
interpolation: robotic jerky mechanical linear constant easing
driver: slider control controls linked automatic drives depends connected
shape key: wink smile blink frown mouth eye eyebrow emotion expression morph blend lips swell
shape key: inflate bulge muscle flex breathe breathing
weights: sticks stick pulls drags influence collapses collapse elbow knee shoulder deforms ear
weights: sleeve pants skirt deform stretch stretches stretching
bind: follow stick attached deform skeleton
constraint influence: hold holds holding grab grabs carry carries pick throw catch
child bone: hand holds holding sword hat weapon prop cup
ik inverse: arm leg foot feet hand reach floor knee elbow
rest pose: tpose apose default original reset
mocap bvh: mixamo dance walk motion capture
walk cycle: walking running run steps
rigid body: tower blocks dominoes bricks collapse collapsing fall falls falling crash crumble stack
rigid body: drop dropping collide marbles dice bowling crashes hit hits ball wall brick car
fracture break: shatter smash destroy destruction broken crack pieces explode collapse
cloth: flag curtain towel blanket shirt dress skirt cape tablecloth sail banner waving bedsheet
cloth: pillow parachute tent net sheet napkin bag curtains drapes cushion trousers pants hair
fluid liquid: honey milk juice coffee tea wine beer lava blood chocolate syrup oil dripping drip
fluid liquid: pour pouring splash flow flowing river waterfall fountain rain tears sink bathtub
smoke fire: campfire flame flames torch burning burn candle fireplace steam explosion cigarette
smoke fire: chimney exhaust fog
particles: snow rain sparks dust confetti bubbles swarm bees fireworks embers leaves petals sand
particles: hourglass ash pollen stars coins bullets money trail magic sparkle smoke fairy
wind: breeze blowing blow sway swaying storm waving floats balloon fan
hair: beard eyebrows eyelashes furry fluffy haircut feathers whiskers fur lawn carpet brush
hair: bristles grass moss eyelash wig fuzzy fluff pelt wool cat dog bear
soft body: jelly jello rubber wobble wobbly squishy bouncy balloon gelatin tire cushion fat belly
soft body: mattress
ocean: sea waves lake beach boat ship waterline
terrain landscape: mountain mountains hill hills valley ground dunes
grease pencil: paper handdrawn drawing sketch cartoon 2d doodle ink
outline line art: manga comic anime cartoon contour black ink edges toon
pack: embed include send client colleague other computer share zip together
missing textures: pink purple magenta lost client computer broken black white gone blank
recover: froze frozen freeze closed died power lost yesterday unsaved forgot
purge unused: rid tidy clean cleanup leftover junk useless unneeded bloat
file smaller: big huge large megabytes gigabytes bloated
viewport slow: laggy lag lags sluggish choppy stutter fps freezes unresponsive rotate heavy
text strip: subtitles subtitle captions caption titles
strip: clip scene shot recording take footage
crossfade fade: transitions dissolve blend
volume sound: loud quiet louder
append link: reuse another project other
asset: library reuse catalog brush downloaded blenderkit
reference image: blueprint photo tracing sketch background template
array curve: chain beads rail tracks road zipper rope bracelet pearls necklace caterpillar treads
array curve: tank bricks
screw: spiral helix spring coil staircase thread bottle vase
lathe: vase bowl cup glass bottle pot wheel round symmetrical pawn chess column lamp
shrinkwrap: stick tight tightly hug snug wrap clothing cling cover conform drape decal lay
snap: magnet magnetic exact exactly precise precisely align stick touching touch flush floor ground
snap: click lego together
origin: pivot center centre centered middle hinge orange dot away far yellow handle gizmo arrows
pivot: hinge axis corner around
apply scale: frozen wrong stretched uneven scaling messed
parent: attach attached follow together stick hang hierarchy group
collection: folder layer group layers folders organize sort hierarchy list outliner
rename: names naming label call
visibility: eye visible invisible hidden see seen show shows
overlay: lines grid display
shading solid: grey gray colorless white textures see show
xray: through behind inside wireframe
local view: isolate alone only solo
frame selected: find lost zoom center far closer
statistics: how many count polycount triangles heavy number polygons limit budget
undo: back mistake accident accidentally oops revert restore previous before
units: centimeters millimeters inches feet meter cm mm real life 1:1 scale architecture
add primitive: insert create make new put ball box sphere cylinder
modifier: effect stack
geometry nodes: procedural parametric city buildings generator generate generated stairs
view layer: pass passes layers
background: backdrop behind wallpaper swap sky replace backplate white plain blank studio
game engine: unity unreal godot roblox
web: website browser threejs online
printing: printer printed print slicer prusa cura
preferences: settings options configuration default always startup
shortcut: hotkey key keyboard button
interface: ui menu panel window buttons toolbar
bump roughness: leather asphalt concrete plaster bark orange stucco
mix mask: mud dirt smear stain stains moss snow scratches paint lower upper
animate keyframe: swing swinging pendulum shake nod wave blink roll rolling slide sliding open
animate keyframe: opening closing rise appear grow growing shrink fly flying crawl zoom push pan
animate keyframe: tilt
seconds frames: minutes minute duration long during time
character armature: person human man woman boy girl dog cat horse dragon monster robot creature
character armature: animal bird spider octopus
driver rotate: wheel wheels gear gears piston clock automatically mechanical machine
hinge: pendulum door lid chest flap gate joint robot
size dimensions: wide tall high deep width height depth big measure exactly cm mm metres meters inch
resolution aspect: wide cinema widescreen vertical portrait landscape square format instagram phone
resolution aspect: ratio
ngon faces: corners sides polygon five
subdivide bevel: jagged angular edgy facets faceted blocky visible
shade smooth: facets faceted blocky flat roundness round polygons angular visible
normal: inside lighting
bridge loops: ends tubes tunnel between
skin modifier: branch branches veins roots skeleton stickman
remesh: lumpy messy triangles scan photogrammetry kitbash union blob blobs clean topology boolean
remesh: merged volume solid
transfer weights: clothes shirt jacket dress outfit
fracture: crash crashes brick
fluid: sand honey hourglass melt melting molten ketchup cream paint drops drop puddle wave splash
fluid: icing shower hose sprinkler
cloth pin: flag curtain hanging hangs corner
render color variants: versions variations variant colorways
batch: many several ten files overnight folder versions
view transform: washed dull flat pale photoshop
vignette: border edges corners dark frame
wireframe edges: blueprint lines see only topology mesh
sun moon: moonlight night
light: lightning lamp lamps candlelight moonlight glow lit illuminate illuminated ambient
light leaks: comes through wall gap
step cad: solidworks fusion autocad rhino sketchup catia stp iges
axes: lying wrong rotated sideways face back upside
file size: gigabytes large big why huge mb gb small mail email upload compress
select lock: selectable clickable click grab unclickable
language: german french spanish japanese chinese english translate
volume: louder quiet voice speak mute silent cloud clouds galaxy dust sunbeams
crossfade: soft change between next one
title text: name credits logo intro
speed: fast faster hurry quicker timelapse slow slower
retime: timelapse fast
follow path: train car plane road drives driving flies river route trajectory conveyor
aim track: eyes look looking watch sunflower turret
array: shelf shelves windows seats teeth keyboard ladder planks blinds times rows line copies five
array: ten several wagons dominoes stairs pillars fence bricks chain bookshelf axis duplicate
array radial: wheel spokes petals gear clock round table around circle
mirror: symmetric face car body wings identical flip flipped backwards reflected
solidify hollow: pumpkin cup pot shell egg helmet box bowl
curve bevel: handle frame railing moulding molding gutter hose wire noodles
lattice: squash stretch squeeze
simple deform: twisted bent arc banana towel candy
displace: rock stone asteroid planet crater crumpled wrinkled
volume scatter: clouds smoke nebula underwater ocean
underwater: water caustics fog
ik: spider legs foot planted floor slide slides sliding reach puppet
pole target: knee knees backward backwards elbow flips
flipped mirrored: opposite left right other
corrective smooth preserve volume: candy wrapper collapse collapses pinch pinched elbow wrist
corrective smooth preserve volume: shoulder twisted
noise modifier: flicker flickering handheld wobble random nervous earthquake tremble
flicker: candle neon broken blinking
constant interpolation: stop motion snap sudden instantly pop stepped
ease: smoothly soft gentle accelerate decelerate
linear: steady constant uniform even evenly
hide keyframe: appear pop disappear vanish
alpha: fade ghost dissolve invisible disappear transparent
exposure: bright overexposed burnt blown washed dark
denoise: smear smeared blotchy splotchy blotches oily clean
memory: ram vram crash crashes full
simplify: weak laptop computer pc old
gpu: graphics nvidia amd rtx cuda card laptop
save: lose losing lost keep
relink: moved folder another drive harddisk usb
collaborate: colleague team share send
clip start: cut close inside zoomed disappears
normals outside: holes invisible missing one side
doubles merge: pinch seam loose unconnected gaps duplicate
loose separate: pieces parts island
apply modifier: permanent bake final collapse
instances: same copies forest memory identical
addon: plugin extension
export: send hand deliver give out
import: open read drag sketchup bring downloaded download load
sculpt: mold mould shape push carve
grab: drag pull move
voxel: melt fuse blob merge
crease: sharp tight
edge loop: ring rings line around
bisect slice: half halves section sliced
knife: score line draw cut scratch shape
align: line straight level row
flatten: straight even level flat planar
randomize: vary natural messy irregular uneven chaotic
scatter: pebbles grass hair forest rain stones cobblestones
hdri: reflections surroundings real
area light: window softbox tv screen panel
spot: stage torch flashlight lighthouse beam headlight headlights cone
point light: bulb candle firefly lantern lamp ceiling
color temperature: warm cold kelvin candlelight tungsten cozy cosy orange blue
scale size: enlarge shrink widen narrow shorten lengthen tall taller small smaller larger big bigger
scale size: tiny huge giant gigantic
primitive cube sphere torus cylinder cone plane: donut doughnut ball box ring pipe tube egg pyramid
primitive cube sphere torus cylinder cone plane: table building house square circle start basic tire
primitive cube sphere torus cylinder cone plane: bead lego simple dice
duplicate copies: times five ten twice double triple clone replicate multiply
scatter random: sprinkles sprinkle icing drops randomly spread seeds stars lights snowflakes trash
scatter random: litter mushrooms plants coral shells people audience crowd city houses cars nuts
merge vertices: become snap collapse unify one two combined zip stitch sew tie
bridge: link pipes ends two holes
bisect: cut away half slice saw cake sawn
inset: panel frame border window groove
proportional: surroundings surrounding neighbors neighbours softly gently bulge few points influence
proportional: around
shade: turn low smooth polygonal
decimate: reduce shrink compress simplified lighter file
sculpt smooth: scratches scratch dents dent lumps bumps relax
dyntopo: polygons stretched triangles
brush: pen tablet pressure stroke eraser cursor
symmetry: both sides side halves mirrored
islands pack: square outside arrange overlap tile space bounds
uv rotate: island wrong upside down sideways flipped
texture uv: pattern misaligned alignment position direction grain slides moves crooked
metal: shiny rust rusty foil spoon fork pan pot pipe wire car cans chain medal trophy armor armour
metal: sword blade gun
subsurface: snow wax soap slime jelly candy
texture color: tint recolor darken lighten hue saturate desaturate brightness
texture slot: roughness specular gloss metallic height occlusion pbr map maps
mix: half partly partially both blended between
transparent: see ghost invisible faded hologram
lights brighter: window much overexposed blown strong too harsh blinding glaring
light dark: see dim black night
lights area: studio ceiling panel office neon
shadow: shade dark silhouette
frame camera: whole entire fit fits fill composition center framing building
orbit: circle around product rotating turn 360
resolution: full hd fullhd 1080 1080p 720p 4k 8k wallpaper phone banner a4 a3 print ratio 16
render region: part corner area quick section
hide render: only not without exclude except floor
exclude holdout: without except only not floor ground
passes depth: map zdepth normal ao
noise samples: grain dots pixelated rough
vignette grain: old film vintage retro cinematic
color grade: vintage retro old cinematic black white teal orange moody film sepia
threads cpu: processor cores core whole computer
render background: terminal console server night
keys timing: earlier later delay shift sooner
shape key squash: stretch hits lands cartoon jelly
armature bones: robot arm joints joint limbs limb puppet marionette mechanical leg
parent pivot: robot joints arm crane lamp
lip shape: mouth talks talk speak speaks words
bind weights: influence no nothing stays
rigid: effect domino ball pins collapse dropped stack pile marble coins
force: floats float balloon wind magnet attract repel gravity fan hover
grease: comic comics whiteboard storyboard
video strips: join after other one following combine append

file overview: biggest largest textures heavy images memory
sidebar toolbar: side panel missing gone back n
numpad: laptop keys numbers
select: mark highlight
selection: highlight outline orange
delete: remove clear wipe trash drop eliminate kill
replace: exchange swap instead another
hide: turn off away
view front: side top face
import axes: tilted rotated upside
lighting: mood atmosphere
fire: dragon breath fireball rocket engine lighter bomb
smoke: steam teapot coffee kettle train locomotive volcano
font: typeface bold italic handwriting
glare: stars headlights sun sparkling
stabilize: shaky wobbly
world: white background color ambient outside
procedural: without photo endless seamless
seamless tile: endless repeats visible seams
displacement: cobblestone roof tiles gravel
path: race orbit curve road rollercoaster
constraint: glued magnet stick attached connect
pole: elbow direction
clip: cut off vanish far
render time: hours long days estimate
video output: player play whatsapp upload small
import images: logo picture sign flat plane
print: slicer size 10cm
measure: how long wide tall area weight volume mass
add-on: install zip
crash: quits closes error
walk: person runs running legs
loop: gif seamless restart repeat
easing: soft start stop
constant: jump instantly blink
noise: organic random natural jitter
"""

#: Words that say little about the question. They count less than others.
FAINT = """
want wants need needs like look looks looking appear appears seem seems keep keeps let try trying
thing things stuff something anything everything nothing someone best better good nice right wrong
easy easily quick quickly simple properly correct correctly real really very too also still only
just same other another each every always again now then here there where more less most much many
few lot little bit way work works working help tell show find get got come comes go goes become
change changing changed create creating created add adding build set setting object objects model
blender program application artist after before behind without inside possible able wanted one two
three four five six several different new old own numbers exactly final once far away problem
problems during since please hello dear question issue issues somehow maybe actually kind make
makes making made give given gives use used using open together into onto around
"""
