#include "plugins/graph/transport/stepper.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/exact_sum.hpp"
#include "core/sparse/products.hpp"

namespace cambium::graph {
namespace {

// Shu and Osher: u = before[s] u_n + now[s] (u + dt F(u)); u then approximates the solution at the end + after[s] dt.
constexpr double before[3] = {0.0, 0.75, 1.0 / 3.0}, now[3] = {1.0, 0.25, 2.0 / 3.0}, begins[3] = {0.0, 1.0, 0.5},
                 ends[3] = {1.0, 0.5, 1.0};
// Ascher, Ruuth and Spiteri: gamma = 1 - 1/sqrt(2), delta = 1 - 1/(2 gamma).
constexpr double gamma_ = 0.29289321881345247560, delta = 1.0 - 0.5 / gamma_;

}  // namespace

Stepper::Stepper(NodeRange& range, Equations equations, Method method, double tolerance)
    : range_(range), equations_(std::move(equations)), method_(method), solver_(range, tolerance),
      u_(static_cast<std::size_t>(range.local() * columns()), 0.0) {
  const auto own = static_cast<std::size_t>(range.owned() * columns());
  for (auto* array : {&explicit_[0], &explicit_[1], &right_, &product_, &begun_}) array->assign(own, 0.0);
}

std::int64_t Stepper::bytes() const {
  const auto& e = equations_;
  return bytes_of(e.stiffness) + bytes_in(e.mass, e.kept, e.parts.of_node, e.fixed) + solver_.bytes() +
         bytes_in(u_, begun_, explicit_[0], explicit_[1], right_, product_);
}

void Stepper::hold(double t) {
  if (equations_.hold) equations_.hold(t, u_);
}

void Stepper::exchange() { range_.exchange(u_, static_cast<int>(columns())); }

void Stepper::terms(int stage, double t, double dt) {
  auto& out = explicit_[method_ == Method::implicit ? stage : 0];
  std::fill(out.begin(), out.end(), 0.0);
  const double at = method_ == Method::implicit ? (stage == 0 ? 0.0 : gamma_) : begins[stage];
  if (equations_.terms) equations_.terms(t + at * dt, u_, out);
}

void Stepper::diffusion(int stage, double t, double dt) {
  if (stage == 0) std::copy_n(own(), begun_.size(), begun_.begin());
  if (method_ == Method::implicit)
    implicit_diffusion(stage, t, dt);
  else
    explicit_diffusion(stage, t, dt);
}

void Stepper::step(double t, double dt) {
  for (int stage = 0; stage < stages(); ++stage) {
    exchange();
    terms(stage, t, dt);
    diffusion(stage, t, dt);
  }
}

void Stepper::stiffness_times_u(std::vector<double>& out) {
  sparse::multiply(equations_.stiffness, {u_.data(), range_.local(), columns(), columns()},
                   {out.data(), range_.owned(), columns(), columns()});
}

void Stepper::explicit_diffusion(int stage, double t, double dt) {
  stiffness_times_u(product_);
  double* u = own();
  for (std::int64_t i = 0, at = 0; i < range_.owned(); ++i)
    for (std::int64_t k = 0; k < columns(); ++k, ++at) {
      const double rate = (explicit_[0][at] - equations_.diffusion[k] * product_[at]) / equations_.mass[i];
      u[at] = before[stage] * begun_[at] + now[stage] * (u[at] + dt * rate);
    }
  hold(t + ends[stage] * dt);
}

void Stepper::implicit_diffusion(int stage, double t, double dt) {
  if (stage == 1) stiffness_times_u(product_);
  const double first = stage == 0 ? gamma_ : delta, second = stage == 0 ? 0.0 : 1.0 - delta,
               old = stage == 0 ? 0.0 : 1.0 - gamma_;
  for (std::int64_t i = 0, at = 0; i < range_.owned(); ++i)
    for (std::int64_t k = 0; k < columns(); ++k, ++at) {
      right_[at] = equations_.mass[i] * begun_[at] + dt * first * explicit_[0][at];
      if (stage == 1) right_[at] += dt * (second * explicit_[1][at] - old * equations_.diffusion[k] * product_[at]);
    }
  hold(t + (stage == 0 ? gamma_ : 1.0) * dt);
  solve(gamma_ * dt);
}

void Stepper::solve(double scale) {
  ConjugateGradients::System system{&equations_.stiffness, equations_.mass, equations_.fixed, {}};
  for (const double d : equations_.diffusion) system.scale.push_back(scale * d);
  solver_.solve(system, u_, right_);
  if (equations_.fixed.empty()) put_back();
}

/// The solver stops at a small residual; this corrects its error in the amount conserved by diffusion, so that the
/// amount does not depend on the tolerance. Each component is corrected separately: nothing may leak into a
/// disconnected component, where a reaction could amplify it.
void Stepper::put_back() {
  const auto n = columns(), width = n + 1, owned = range_.owned();
  const auto& parts = equations_.parts;
  const auto part_of = [&](std::int64_t i) { return parts.of_node.empty() ? 0 : std::int64_t{parts.of_node[i]}; };
  std::vector<ExactSum> sums(parts.count * width);
  double* u = own();
  for (std::int64_t i = 0; i < owned; ++i) {
    const auto part = part_of(i);
    const double v = equations_.kept[i], weight = v * equations_.mass[i];
    if (part < 0) continue;
    sums[part * width + n].add(v * weight);
    for (std::int64_t k = 0; k < n; ++k) {
      sums[part * width + k].add(v * right_[i * n + k]);
      sums[part * width + k].add(-(weight * u[i * n + k]));
    }
  }
  ExactSum::over_ranks(sums, range_.comm());
  std::vector<double> missing;
  for (std::size_t s = 0; s < sums.size(); ++s) missing.push_back(sums[s].value() / sums[s - s % width + n].value());
  for (std::int64_t i = 0; i < owned; ++i) {
    const auto part = part_of(i);
    for (std::int64_t k = 0; k < n; ++k)
      if (part < 0)
        u[i * n + k] = right_[i * n + k] / equations_.mass[i];
      else
        u[i * n + k] += equations_.kept[i] * missing[part * width + k];
  }
}

}  // namespace cambium::graph
