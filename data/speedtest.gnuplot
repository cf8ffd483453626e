
# ---- What follows is the same in each script ----

if (exists('ARG1') && strlen(ARG1) > 0) picture = ARG1
set terminal pngcairo size 1430,676 noenhanced font 'DejaVu Sans,11' background rgb '#ffffff'
set encoding utf8
set decimalsign '.'
set output picture

grey = '#555555'
box_room = 0.055    # of the width, left of the smallest size, for the boxes
box_step = 0.047    # of the height, at least, from box to box
box_high = 0.92     # below the heading
box_low = 0.025
label_step = 0.035  # of the width, at least, from one label of a size to the next
headroom = 1.06     # of the highest rate

# gnuplot reads the loops that have no turn too, so the first two answer any number.
nth(list, k) = k <= words(list) ? int(word(list, k)) : 1
colour(i) = '#'.word(colours, lower(i, words(colours)))
faint(i, transparency) = '#'.transparency.word(colours, i)
log2(x) = log(x) / log(2)
lower(a, b) = a < b ? a : b
higher(a, b) = a > b ? a : b

# ---- Texts ----

set label heading at screen 0.5,0.963 center noenhanced font ',14'
set label conditions at screen 0.5,0.92 center noenhanced font ',10' tc rgb grey
set label 'band: slowest to fastest run · dotted: fastest · across: averages of all sizes' \
    at screen 0.945,0.037 right font ',9' tc rgb grey
set key at screen 0.065,0.9 left top horizontal Left reverse maxrows 2 samplen 2.5 noenhanced \
    font ',10'
set style textbox opaque fillcolor rgb '#ffffff' border rgb '#555555' margins 0.8,0.8

# ---- The axes: all sizes and the room for the boxes; of one size, an octave each side ----

stats $rates using 4 nooutput
top = STATS_max * headroom
smallest = real(word(sizes, 1))
largest = real(word(sizes, words(sizes)))
begin = log2(smallest)
end = log2(largest * 1.001)
if (smallest == largest) {
    begin = begin - 1
    end = begin + 2
} else {
    begin = begin - (end - begin) * box_room / (1 - box_room)
}
across(size) = (log2(size) - begin) / (end - begin)

# ---- Averages over all sizes: lines across, boxed values at the edges ----

array value[runs]
array order[runs]
array place[runs]
do for [edge=1:2] {
    x = edge == 1 ? 0.006 : 1.006
    dash = edge == 1 ? 1 : 3
    set label edge == 1 ? 'avg mean' : 'avg max' at graph x,0.975 left font ',9' tc rgb grey front
    do for [i=1:runs] {
        stats $rates index i-1 using (edge == 1 ? $2 : $4) nooutput
        value[i] = STATS_mean
        set arrow from graph 0,first value[i] to graph 1,first value[i] nohead back lw 1 \
            dt dash lc rgb faint(i, '80')
    }
    # Boxes that would cover each other move apart: up, and from the heading on down again.
    do for [i=1:runs] {
        rank = 1
        do for [j=1:runs] {
            rank = rank + (value[j] < value[i] || (value[j] == value[i] && j < i))
        }
        order[rank] = i
    }
    bound = box_low
    do for [k=1:runs] {
        place[k] = higher(value[order[k]] / top, bound)
        bound = place[k] + box_step
    }
    bound = box_high
    do for [k=runs:1:-1] {
        place[k] = lower(place[k], bound)
        bound = place[k] - box_step
        i = order[k]
        set label sprintf(value[i] < 9.95 ? '%.1f' : '%.0f', value[i]) at graph x,place[k] \
            left boxed font ',10' tc rgb colour(i) front
    }
}

# ---- The quantum: a line, and a ring around the nearest point of the first test ----

at = quantum > 0 ? across(quantum) : -1
if (at >= 0 && at <= 1) {
    stats $rates index 0 using (abs(log2($1) - log2(quantum))) nooutput
    row = int(STATS_index_min)
    stats $rates index 0 every ::row::row using 1 nooutput
    size = STATS_min
    stats $rates index 0 every ::row::row using 2 nooutput
    rate = STATS_min
    do for [k=1:words(sizes)] {
        if (real(word(sizes, k)) == size) {
            name = word(names, k)
        }
    }
    said = sprintf('quantum %s KiB (%s of %s: %.2f MiB/s)', quantum_kib, word(tests, 1), name, rate)
    set arrow from first quantum,graph 0 to first quantum,graph 1 nohead back lw 1.2 dt 2 \
        lc rgb grey
    set label 100 said at first quantum,graph 1.025 center font ',10' tc rgb grey
    if (at < 0.15) { set label 100 left }
    if (at > 0.85) { set label 100 right }
    set label '' at first size,rate point pt 6 ps 2.4 lw 1.5 lc rgb grey front
}

# ---- Who has one size only: a bar instead of the band, a point instead of the baseline ----

bands = ''
bars = ''
dashes = ''
points = ''
do for [i=1:words(tests)] {
    stats $rates index i-1 using 1 nooutput
    several = STATS_records > 1
    bands = bands.(i <= runs && several ? ' '.i : '')
    bars = bars.(i <= runs && !several ? ' '.i : '')
    dashes = dashes.(i > runs && several ? ' '.i : '')
    points = points.(i > runs && !several ? ' '.i : '')
}

# ---- The frame; a tick for each size, a label where it does not touch the one before ----

set lmargin at screen 0.065
set rmargin at screen 0.945
set bmargin at screen 0.105
set tmargin at screen 0.81
set border 3 lc rgb grey
set grid back lt 1 lw 1 lc rgb '#e4e4e4'
set logscale x 2
set xrange [2**begin:2**end]
set yrange [0:top]
set xtics scale 0.75,0 nomirror ()
last = -1
do for [k=1:words(sizes)] {
    at = across(real(word(sizes, k)))
    shown = at - last >= label_step
    last = shown ? at : last
    set xtics add (shown ? word(names, k) : '' real(word(sizes, k)))
}
set ytics nomirror
set format y '%g'
set xlabel 'File size'
set ylabel 'Throughput (MiB/s)'

# ---- Curves from bottom to top, the legend the other way round ----

plot for [i=1:runs] keyentry with linespoints lw 2.2 pt 7 ps 0.9 lc rgb colour(i) \
         title word(tests, i).' (mean)', \
     for [i=runs+1:words(tests)] keyentry with lines lw 1.8 dt 2 lc rgb colour(i) \
         title word(tests, i).' (baseline)', \
     for [k=1:words(bands)] $rates index nth(bands, k)-1 using 1:3:4 with filledcurves \
         fs transparent solid 0.12 noborder lc rgb colour(nth(bands, k)) notitle, \
     for [k=1:words(bars)] $rates index nth(bars, k)-1 using 1:2:3:4 with yerrorbars \
         lw 8 pt 0 lc rgb faint(nth(bars, k), 'e0') notitle, \
     for [i=1:runs] $rates index i-1 using 1:4 with lines \
         lw 1.5 dt 3 lc rgb faint(i, '80') notitle, \
     for [k=1:words(dashes)] $rates index nth(dashes, k)-1 using 1:2 with lines \
         lw 1.8 dt 2 lc rgb colour(nth(dashes, k)) notitle, \
     for [k=1:words(points)] $rates index nth(points, k)-1 using 1:2 with points \
         pt 4 ps 1.4 lc rgb colour(nth(points, k)) notitle, \
     for [i=1:runs] $rates index i-1 using 1:2 with linespoints \
         lw 2.2 pt 7 ps 0.9 lc rgb colour(i) notitle
set output

# Without any font the letters are left out, and nothing is said: they are then no pixel wide.
if (exists('GPVAL_TERM_HCHAR') && exists('GPVAL_TERM_SCALE') && \
    GPVAL_TERM_HCHAR < GPVAL_TERM_SCALE) {
    exit error 'there is no font for the text of the picture: install the package fonts-dejavu-core'
}
