#pragma once
// A physics on nodes from a deck's text, without files.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "plugins/graph/physics/graph_diffusion.hpp"
#include "plugins/graph/physics/mesh_transport.hpp"
#include "tests/physics_case.hpp"

namespace cambium::graph::test {

/// A physics on nodes, with the values of its columns.
template <class P>
class Case : public cambium::test::PhysicsCase<P> {
 public:
  using cambium::test::PhysicsCase<P>::PhysicsCase;

  /// Own values of all columns.
  std::vector<double> own() const {
    const auto& stepper = node_run().stepper();
    return {stepper.own(), stepper.own() + stepper.range().owned() * stepper.columns()};
  }
  /// Those of the nodes that the same case owns on another communicator, where this one owns all.
  std::vector<double> same_rows(const NodeRange& range) const {
    const auto& stepper = node_run().stepper();
    std::vector<double> out;
    for (const auto node : range.own()) {
      const double* row = stepper.own() + stepper.range().row_of(node) * stepper.columns();
      out.insert(out.end(), row, row + stepper.columns());
    }
    return out;
  }
  const NodeRun& node_run() const { return static_cast<const NodePhysics&>(this->physics()).run(); }
};

using Diffusion = Case<GraphDiffusion>;
using Transport = Case<MeshTransport>;

}  // namespace cambium::graph::test
