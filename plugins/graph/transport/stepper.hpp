#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "plugins/graph/transport/components.hpp"
#include "plugins/graph/transport/conjugate_gradients.hpp"

namespace cambium::graph {

/// M du/dt = -K u D + N(u, t) for several columns of u: M and D diagonal, K symmetric and positive semi-definite.
struct Equations {
  sparse::Csr<double> stiffness;  ///< own rows of K
  std::vector<double> mass;       ///< M of own nodes
  std::vector<double> kept;       ///< v of own nodes with K v = 0: v . M u changes only by N
  std::vector<double> diffusion;  ///< D of each column
  Components parts;               ///< components, in each of which diffusion conserves v . M u
  std::vector<char> fixed;        ///< own nodes whose value is set by `hold`; empty: none
  /// Adds N(u, t) to `out` (own x columns); u is local x columns with its neighbours. Collective. Null: N = 0.
  std::function<void(double t, std::span<const double> u, std::span<double> out)> terms;
  /// Sets the prescribed own values at time t; u is local x columns. Null: none.
  std::function<void(double t, std::span<double> u)> hold;
};

/// Time integration method.
enum class Method {
  explicit_steps,  ///< three stages of third order (Shu and Osher 1988), strong-stability preserving
  implicit  ///< diffusion implicit, L-stable, the rest explicit: ARS(2,2,2) of second order (Ascher, Ruuth, Spiteri
            ///< 1997)
};

class Stepper {
 public:
  Stepper(NodeRange& range, Equations equations, Method method, double tolerance);

  int stages() const { return method_ == Method::implicit ? 2 : 3; }
  // Parts of a stage, in this order.
  void exchange();                             ///< neighbours' values; collective
  void terms(int stage, double t, double dt);  ///< N of this stage; t: start of the step
  void diffusion(int stage, double t, double dt);
  void step(double t, double dt);

  std::span<double> values() { return u_; }  ///< local x columns
  std::span<const double> values() const { return u_; }
  /// Own values of the first column, with stride given by the columns.
  double* own() { return u_.data(); }
  const double* own() const { return u_.data(); }
  std::int64_t columns() const { return std::ssize(equations_.diffusion); }
  const Equations& equations() const { return equations_; }
  NodeRange& range() { return range_; }
  const NodeRange& range() const { return range_; }
  std::int64_t iterations() const { return solver_.steps(); }
  /// Memory of equations, values and stages.
  std::int64_t bytes() const;
  /// Sets the prescribed values at a time.
  void hold(double t);

  /// Maximum |lambda dt| on the negative real axis for stable explicit steps.
  static constexpr double real_limit = 2.51;

 private:
  void explicit_diffusion(int stage, double t, double dt);
  void implicit_diffusion(int stage, double t, double dt);
  void stiffness_times_u(std::vector<double>& out);
  void solve(double scale);
  void put_back();

  NodeRange& range_;
  Equations equations_;
  Method method_;
  ConjugateGradients solver_;
  std::vector<double> u_, begun_, explicit_[2], right_, product_;
};

}  // namespace cambium::graph
