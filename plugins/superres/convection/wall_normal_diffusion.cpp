#include "plugins/superres/convection/wall_normal_diffusion.hpp"

#include <vector>

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

WallNormalDiffusion::WallNormalDiffusion(const Comm& comm, const Slab& slab, const Fluid& fluid)
    : slab_(slab), fluid_(fluid), layout_(RowLayout::of(slab.grid)), sweep_(Sweep::of(slab)),
      slots_(carried_by(slab.grid, fluid)), inverse_("diffusion pivots", slots_, slab.rows + 2),
      behind_("diffusion behind", slots_, slab.rows + 2), ahead_("diffusion ahead", slots_, slab.rows + 2),
      reach_("diffusion reach", slots_, slab.rows + 2), fill_("diffusion fill", slots_, slab.rows + 2),
      last_("diffusion last", slots_, layout_.columns()),
      from_behind_("diffusion from behind", sweep_.behind ? slots_ : 0, layout_.columns()) {
  for (const auto& [from, to] : parts_of(layout_.span(), comm.size())) {
    const int width = padded(to - from);
    parts_.push_back(
        {from, to, Interfaces(comm, slots_ * width, width, slots_, slab.share_memory, slab.grid.spatial())});
  }
}

bool WallNormalDiffusion::fixed_on_plates(int field) const {
  const int scalar = field - first_scalar(slab_.grid);
  if (scalar >= 0) return fluid_.scalars[scalar].plates_fix;
  return field == field_b ? fluid_.plates_conduct : fluid_.plates == Wall::no_slip;
}

double WallNormalDiffusion::diffusivity(int field) const {
  const int scalar = field - first_scalar(slab_.grid);
  if (scalar >= 0) return fluid_.scalars[scalar].diffusivity;
  return field == field_b ? fluid_.diffusivity : fluid_.viscosity;
}

/// Coefficients of -behind x(k-1) + diagonal x(k) - ahead x(k+1) in the order of the sweep, k = 0..m-1.
WallNormalDiffusion::Rows WallNormalDiffusion::coefficients(int field, double c) const {
  const Grid& g = slab_.grid;
  Rows rows;
  for (int step = 1; step <= slab_.rows; ++step) {
    const int k = slab_.first + sweep_.row(step) - 1;
    double lower = 0.0, upper = 0.0, wall = 0.0;
    if (field == field_w) {  // on faces; the face on the plate keeps w = 0
      if (k > 0) {
        lower = c / (g.between(k) * g.height(k - 1));
        upper = c / (g.between(k) * g.height(k));
      }
    } else {
      lower = c / (g.height(k) * g.between(k));
      upper = c / (g.height(k) * g.between(k + 1));
      const double sign = fixed_on_plates(field) ? -1.0 : 1.0;  // of the ghost value beyond a plate
      if (k == 0) wall -= sign * lower;
      if (k == g.nz - 1) wall -= sign * upper;
    }
    rows.diagonal.push_back(1.0 + lower + upper + wall);
    if (k == 0) lower = 0.0;
    if (k == g.nz - 1) upper = 0.0;
    rows.behind.push_back(sweep_.down ? upper : lower);
    rows.ahead.push_back(sweep_.down ? lower : upper);
  }
  return rows;
}

void WallNormalDiffusion::set(double alpha_dt) {
  if (alpha_dt == alpha_dt_) return;
  alpha_dt_ = alpha_dt;
  const int m = slab_.rows;
  const auto inverse = Kokkos::create_mirror_view(inverse_), behind = Kokkos::create_mirror_view(behind_),
             ahead = Kokkos::create_mirror_view(ahead_), reach = Kokkos::create_mirror_view(reach_),
             fill = Kokkos::create_mirror_view(fill_);
  Interfaces::Response response;
  for (int f = 0; f < slots_; ++f) {
    const Rows rows = coefficients(field_of_slot(f), 0.5 * alpha_dt * diffusivity(field_of_slot(f)));
    for (int k = 0; k < m; ++k) {
      const double coupling = k > 0 ? rows.behind[k] * ahead(f, k) : 0.0;
      inverse(f, k + 1) = 1.0 / (rows.diagonal[k] - coupling);
      behind(f, k + 1) = rows.behind[k];
      ahead(f, k + 1) = rows.ahead[k] * inverse(f, k + 1);
      fill(f, k + 1) = rows.behind[k] * (k == 0 ? 1.0 : fill(f, k)) * inverse(f, k + 1);
      reach(f, k + 1) = k == 0 ? 1.0 : reach(f, k) * ahead(f, k);
    }
    double behind_first = 0.0;
    for (int k = 1; k <= m; ++k) behind_first += reach(f, k) * fill(f, k);
    response.add(sweep_, behind_first, fill(f, m), reach(f, m) * ahead(f, m), ahead(f, m));
  }
  Kokkos::deep_copy(inverse_, inverse);
  Kokkos::deep_copy(behind_, behind);
  Kokkos::deep_copy(ahead_, ahead);
  Kokkos::deep_copy(reach_, reach);
  Kokkos::deep_copy(fill_, fill);
  for (Part& part : parts_) part.interfaces.set(response);
}

/// Forward elimination along the sweep, after which x(k) = rhs(k) + ahead(k) x(k+1) + fill(k) x(0); the ends of this
/// rank's own solution are sent to the others.
void WallNormalDiffusion::eliminate(const Part& part, const Fields& rhs) {
  const int m = slab_.rows, begin = part.from, width = padded(part.to - part.from);
  const auto inverse = inverse_, behind = behind_, reach = reach_;
  const auto ends = part.interfaces.ends;
  const auto sweep = sweep_;
  const int slots = slots_, origin = layout_.begin(0);
  for_layers(
      "diffusion: eliminate", slots, begin, part.to, KOKKOS_LAMBDA(int f, int from, int to) {
        Lanes first[strip], last[strip];
        for (int n = 0; n < strip; ++n) first[n] = last[n] = Lanes(0.0);
        for (int start = 1; start <= m; start += fetched) {
          Lanes next[fetched], pivot[fetched], a[fetched], share[fetched];
          for (int r = 0; r < fetched; ++r) {
            const int k = start + r < m ? start + r : m;
            pivot[r] = Lanes(inverse(f, k));
            a[r] = Lanes(behind(f, k));
            share[r] = Lanes(reach(f, k));
            next[r] = fetch(&rhs(f, sweep.row(k), origin + from));
          }
          for (int r = 0; r < fetched && start + r <= m; ++r) {
            const int k = start + r, row = sweep.row(k);
            for (int i = from; i < to; i += lanes) {
              const int n = (i - from) / lanes;
              double* const here = &rhs(f, row, origin + i);
              Lanes x = fetched_or(next[r], here);
              if (k > 1) x = fma(a[r], last[n], x);
              last[n] = x * pivot[r];
              last[n].store(here);
              if (sweep.behind) first[n] = fma(share[r], last[n], first[n]);
            }
          }
        }
        for (int i = from; sweep.ahead && i < to; i += lanes) {
          const int n = (i - from) / lanes;
          first[n].store(&ends(f * width + i - begin));
          last[n].store(&ends((sweep.down ? f : slots + f) * width + i - begin));
        }
      });
}

/// Back substitution from the first row ahead, with the last one behind.
void WallNormalDiffusion::substitute(const Part& part, const Flow& flow, const Fields& rhs) {
  const int m = slab_.rows, begin = part.from, width = padded(part.to - part.from);
  const auto ahead = ahead_, fill = fill_;
  const auto fields = flow.fields;
  const auto sweep = sweep_;
  const auto above = part.interfaces.above, from_behind = part.interfaces.below,
             from_ahead = sweep.down ? from_behind : above;
  const bool shares_face = !slab_.top();
  const int slots = slots_, origin = layout_.begin(0);
  for_layers(
      "diffusion: substitute", slots, begin, part.to, KOKKOS_LAMBDA(int f, int from, int to) {
        Lanes last[strip];
        for (auto& x : last) x = Lanes(0.0);
        for (int start = m; start >= 1; start -= fetched) {
          Lanes next[fetched], added_to[fetched], c[fetched], q[fetched];
          for (int r = 0; r < fetched; ++r) {
            const int k = start - r > 1 ? start - r : 1, row = sweep.row(k);
            c[r] = Lanes(ahead(f, k));
            q[r] = Lanes(fill(f, k));
            next[r] = fetch(&rhs(f, row, origin + from));
            added_to[r] = fetch(&fields(field_of_slot(f), row, origin + from));
          }
          for (int r = 0; r < fetched && start - r >= 1; ++r) {
            const int k = start - r, row = sweep.row(k);
            for (int i = from; i < to; i += lanes) {
              double* const here = &rhs(f, row, origin + i);
              Lanes x = fetched_or(next[r], here);
              if (sweep.behind) x = fma(q[r], Lanes::load(&from_behind(f * width + i - begin)), x);
              if (k < m)
                x = fma(c[r], last[(i - from) / lanes], x);
              else if (sweep.ahead)
                x = fma(c[r], Lanes::load(&from_ahead(f * width + i - begin)), x);
              last[(i - from) / lanes] = x;
              double* const to_field = &fields(field_of_slot(f), row, origin + i);
              (fetched_or(added_to[r], to_field) + x).store(to_field);
            }
          }
        }
        if (!shares_face || f != field_w) return;
        for (int i = from; i < to; i += lanes) {
          double* const face = &fields(f, m + 1, origin + i);
          (Lanes::load(face) + Lanes::load(&above(f * width + i - begin))).store(face);
        }
      });
}

/// Ends of this rank's own solution: its last step, and the value of the first row if there is a rank behind.
void WallNormalDiffusion::take_ends(const Part& part, const Fields& rhs) {
  const int m = slab_.rows, begin = part.from, width = padded(part.to - part.from);
  const auto reach = reach_;
  const auto ends = part.interfaces.ends;
  const auto sweep = sweep_;
  const int slots = slots_, origin = layout_.begin(0), last = sweep.row(m);
  for_layers(
      "diffusion: ends", slots, begin, part.to, KOKKOS_LAMBDA(int f, int from, int to) {
        const int at_end = (sweep.down ? f : slots + f) * width;
        for (int i = from; i < to; i += lanes) {
          Lanes first(0.0);
          for (int k = 1; sweep.behind && k <= m; ++k)
            first = fma(Lanes(reach(f, k)), Lanes::load(&rhs(f, sweep.row(k), origin + i)), first);
          first.store(&ends(f * width + i - begin));
          Lanes::load(&rhs(f, last, origin + i)).store(&ends(at_end + i - begin));
        }
      });
}

void WallNormalDiffusion::take_answers(const Part& part, const Flow& flow) {
  const int m = slab_.rows, begin = part.from, width = padded(part.to - part.from);
  const auto fields = flow.fields;
  const auto last = last_, kept = from_behind_;
  const auto sweep = sweep_;
  const auto above = part.interfaces.above, below = part.interfaces.below, from_ahead = sweep.down ? below : above;
  const bool shares_face = !slab_.top();
  const int slots = slots_, origin = layout_.begin(0);
  for_layers(
      "diffusion: answers", slots, begin, part.to, KOKKOS_LAMBDA(int f, int from, int to) {
        for (int i = from; i < to; i += lanes) {
          const int at = f * width + i - begin;
          Lanes::load(&from_ahead(at)).store(&last(f, origin + i));
          if (sweep.behind) Lanes::load(&below(at)).store(&kept(f, origin + i));
          if (!shares_face || f != field_w) continue;
          double* const face = &fields(f, m + 1, origin + i);
          (Lanes::load(face) + Lanes::load(&above(at))).store(face);
        }
      });
}

void WallNormalDiffusion::join(const Flow& flow, const Fields& rhs) {
  if (!sweep_.ahead) {
    Kokkos::deep_copy(last_, 0.0);
    return;
  }
  for (Part& part : parts_) {
    take_ends(part, rhs);
    part.interfaces.start();
  }
  join_together(parts_);
  for (Part& part : parts_) {
    part.interfaces.finish();
    take_answers(part, flow);
  }
}

void WallNormalDiffusion::add_rows(const Flow& flow, const Fields& rhs, int first, int last) {
  const auto ahead = ahead_, fill = fill_;
  const auto fields = flow.fields;
  const auto next = last_, behind = from_behind_;
  const auto sweep = sweep_;
  const int slots = slots_;
  for_blocks(
      "diffusion: add", first, last, true, layout_, KOKKOS_LAMBDA(int k, const Block& block) {
        const int row = sweep.row(k);
        for (int f = 0; f < slots; ++f) {
          const Lanes c(ahead(f, k)), q(fill(f, k));
          const double *const right = &rhs(f, row, 0), *const kept = sweep.behind ? &behind(f, 0) : nullptr;
          double *const step_ahead = &next(f, 0), *const field = &fields(field_of_slot(f), row, 0);
          block.each([&](int i) {
            Lanes x = Lanes::load(right + i);
            if (kept) x = fma(q, Lanes::load(kept + i), x);
            x = fma(c, Lanes::load(step_ahead + i), x);
            x.store(step_ahead + i);
            (Lanes::load(field + i) + x).store(field + i);
          });
        }
      });
}

void WallNormalDiffusion::add(const Flow& flow, const Fields& rhs) {
  for (Part& part : parts_) {
    eliminate(part, rhs);
    part.interfaces.start();
  }
  join_together(parts_);
  for (Part& part : parts_) {
    part.interfaces.finish();
    substitute(part, flow, rhs);
  }
}

}  // namespace cambium::superres
