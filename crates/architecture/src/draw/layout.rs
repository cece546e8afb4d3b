//! Where everything goes: figures in layers from left to right, so that arrows point to the right as far as cycles
//! allow, and in an order within each layer that makes few arrows cross.
//!
//! Layers by longest path; arrows that span several layers get a bend in each; the order by barycentres, swept forth
//! and back, and the best one kept.

/// Sweeps over all layers. The order hardly changes after a few.
const SWEEPS: usize = 10;
/// Bends of all arrows together; longer arrows go straight once there are so many.
const MOST_BENDS: usize = 20_000;

/// A figure or a bend, after layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) layer: usize,
    /// Counts within the layer and band.
    pub(super) row: usize,
    pub(super) band: usize,
}

#[derive(Debug)]
pub(super) struct Layout {
    /// First all figures, then bends.
    pub(super) spots: Vec<Spot>,
    /// For each arrow the spots that it goes through, both ends included, from tail to head.
    pub(super) routes: Vec<Vec<usize>>,
    pub(super) layers: usize,
    /// For each band the rows that it needs.
    pub(super) rows: Vec<usize>,
    /// By layer, then band: the spots there.
    pub(super) counts: Vec<Vec<usize>>,
}

/// `bands` says for each figure in which of several horizontal bands it stays.
pub(super) fn layout(arrows: &[(usize, usize)], bands: &[usize]) -> Layout {
    let figures = bands.len();
    let directed = without_cycles(figures, arrows);
    let layer = layers(figures, &directed);
    let mut layer_of = layer.clone();
    let mut band_of = bands.to_vec();
    let mut routes = Vec::with_capacity(arrows.len());
    let mut links = Vec::new();
    for (&(from, to), &(left, right)) in arrows.iter().zip(&directed) {
        let mut route = vec![left];
        let bends = layer[right].saturating_sub(layer[left] + 1);
        if layer_of.len() + bends < figures + MOST_BENDS {
            for between in layer[left] + 1..layer[right] {
                route.push(layer_of.len());
                layer_of.push(between);
                // A bend stays with the figure that it leads to.
                band_of.push(bands[right]);
            }
        }
        route.push(right);
        links.extend(route.windows(2).map(|two| (two[0], two[1])));
        if (from, to) != (left, right) {
            route.reverse();
        }
        routes.push(route);
    }
    let count = layer_of.iter().max().map_or(0, |last| last + 1);
    let order = ordered(&layer_of, &band_of, &links, count);
    let band_count = bands.iter().max().map_or(1, |last| last + 1);
    let mut spots = vec![
        Spot {
            layer: 0,
            row: 0,
            band: 0
        };
        layer_of.len()
    ];
    let mut counts = vec![vec![0; band_count]; count];
    for (index, layer) in order.iter().enumerate() {
        for &spot in layer {
            let band = band_of[spot];
            spots[spot] = Spot {
                layer: index,
                row: counts[index][band],
                band,
            };
            counts[index][band] += 1;
        }
    }
    let rows = |band: usize| counts.iter().map(|layer| layer[band]).max().unwrap_or(0);
    Layout {
        spots,
        routes,
        layers: count,
        rows: (0..band_count).map(rows).collect(),
        counts,
    }
}

/// The arrows, some turned round so that no cycle is left. Figures are visited from those that nothing leads to.
fn without_cycles(figures: usize, arrows: &[(usize, usize)]) -> Vec<(usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        No,
        Open,
        Done,
    }
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); figures];
    let mut incoming = vec![0; figures];
    for (index, &(from, to)) in arrows.iter().enumerate() {
        outgoing[from].push(index);
        incoming[to] += 1;
    }
    let mut directed = arrows.to_vec();
    let mut visits = vec![Visit::No; figures];
    let mut roots: Vec<usize> = (0..figures).collect();
    roots.sort_by_key(|&figure| incoming[figure] > 0);
    for root in roots {
        if visits[root] != Visit::No {
            continue;
        }
        visits[root] = Visit::Open;
        let mut stack = vec![(root, 0)];
        while let Some((figure, next)) = stack.last_mut() {
            let Some(&arrow) = outgoing[*figure].get(*next) else {
                visits[*figure] = Visit::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            let (from, to) = arrows[arrow];
            match visits[to] {
                Visit::No => {
                    visits[to] = Visit::Open;
                    stack.push((to, 0));
                }
                Visit::Open => directed[arrow] = (to, from),
                Visit::Done => {}
            }
        }
    }
    directed
}

/// Longest paths from the left; then figures that nothing leads to move to the right, next to what they lead to.
fn layers(figures: usize, arrows: &[(usize, usize)]) -> Vec<usize> {
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); figures];
    let mut incoming = vec![0_usize; figures];
    for &(from, to) in arrows {
        outgoing[from].push(to);
        incoming[to] += 1;
    }
    let first: Vec<bool> = incoming.iter().map(|&count| count == 0).collect();
    let mut layers = vec![0_usize; figures];
    let mut ready: Vec<usize> = (0..figures).filter(|&figure| first[figure]).collect();
    while let Some(figure) = ready.pop() {
        for &to in &outgoing[figure] {
            layers[to] = layers[to].max(layers[figure] + 1);
            incoming[to] -= 1;
            if incoming[to] == 0 {
                ready.push(to);
            }
        }
    }
    for figure in (0..figures).filter(|&figure| first[figure]) {
        if let Some(nearest) = outgoing[figure].iter().map(|&to| layers[to]).min() {
            layers[figure] = nearest.saturating_sub(1);
        }
    }
    layers
}

/// By layer, the spots from top to bottom.
fn ordered(
    layer_of: &[usize],
    band_of: &[usize],
    links: &[(usize, usize)],
    count: usize,
) -> Vec<Vec<usize>> {
    let mut order: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (spot, &layer) in layer_of.iter().enumerate() {
        order[layer].push(spot);
    }
    for layer in &mut order {
        layer.sort_by_key(|&spot| band_of[spot]);
    }
    let mut left: Vec<Vec<usize>> = vec![Vec::new(); layer_of.len()];
    let mut right: Vec<Vec<usize>> = vec![Vec::new(); layer_of.len()];
    for &(from, to) in links {
        right[from].push(to);
        left[to].push(from);
    }
    let mut place = vec![0_f64; layer_of.len()];
    let settle = |layer: &[usize], place: &mut [f64]| {
        for (row, &spot) in layer.iter().enumerate() {
            place[spot] = row as f64;
        }
    };
    for layer in &order {
        settle(layer, &mut place);
    }
    let mut best = order.clone();
    let mut fewest = crossings(&order, &right, &place);
    for sweep in 0..SWEEPS {
        let forth = sweep % 2 == 0;
        for step in 0..count {
            let layer = if forth { step } else { count - 1 - step };
            let neighbours = if forth { &left } else { &right };
            let centre = |spot: usize| {
                let of_spot = &neighbours[spot];
                match of_spot.len() {
                    0 => place[spot],
                    count => of_spot.iter().map(|&other| place[other]).sum::<f64>() / count as f64,
                }
            };
            let mut keyed: Vec<(usize, f64, usize)> = (order[layer].iter())
                .map(|&spot| (band_of[spot], centre(spot), spot))
                .collect();
            keyed.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
            order[layer] = keyed.into_iter().map(|(_, _, spot)| spot).collect();
            settle(&order[layer], &mut place);
        }
        let crossings = crossings(&order, &right, &place);
        if crossings < fewest {
            fewest = crossings;
            best.clone_from(&order);
        }
    }
    best
}

/// Pairs of links between neighbouring layers that cross.
fn crossings(order: &[Vec<usize>], right: &[Vec<usize>], place: &[f64]) -> u64 {
    let mut crossings = 0;
    for layer in order {
        let mut ends: Vec<usize> = Vec::new();
        for &spot in layer {
            let mut of_spot: Vec<usize> =
                right[spot].iter().map(|&to| place[to] as usize).collect();
            of_spot.sort_unstable();
            ends.extend(of_spot);
        }
        // A tree of counts: how many ends so far lie below this one.
        let size = ends.iter().max().map_or(0, |last| last + 1);
        let mut tree = vec![0_u64; size + 1];
        for (before, &end) in ends.iter().enumerate() {
            let mut above_or_same = 0;
            let mut index = end + 1;
            while index > 0 {
                above_or_same += tree[index];
                index &= index - 1;
            }
            crossings += before as u64 - above_or_same;
            let mut index = end + 1;
            while index <= size {
                tree[index] += 1;
                index += index & index.wrapping_neg();
            }
        }
    }
    crossings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_goes_from_left_to_right() {
        let layout = layout(&[(0, 1), (1, 2), (0, 2)], &[0, 0, 0]);
        let layers: Vec<usize> = layout.spots.iter().map(|spot| spot.layer).collect();
        // The long arrow has a bend beside the figure in the middle.
        assert_eq!(layers, [0, 1, 2, 1]);
        assert_eq!(layout.routes[2], [0, 3, 2]);
        assert_ne!(layout.spots[1].row, layout.spots[3].row);
    }

    #[test]
    fn a_cycle_is_laid_out_too() {
        let layout = layout(&[(0, 1), (1, 0)], &[0, 0]);
        assert_eq!((layout.layers, layout.routes[1].clone()), (2, vec![1, 0]));
    }

    #[test]
    fn arrows_that_need_not_cross_do_not() {
        let layout = layout(&[(0, 3), (1, 2)], &[0; 4]);
        let row = |figure: usize| layout.spots[figure].row;
        assert_eq!(row(0) < row(1), row(3) < row(2));
    }

    #[test]
    fn bands_keep_their_figures_together() {
        let layout = layout(&[(0, 2), (1, 3)], &[1, 0, 1, 0]);
        assert_eq!(layout.rows, [1, 1]);
        assert_eq!(layout.spots[0].band, 1);
    }
}
