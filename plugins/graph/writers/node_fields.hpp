#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/io/hdf5/compression.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/plugin/writer.hpp"

namespace cambium::graph {

class NodePhysics;
struct AllShown;

/// Values on the nodes of a graph or a mesh over time, in the order of the file of the nodes:
///   /time, /step            one for each snapshot
///   /seconds                computing time of the run until then, without outputs
///   /<species>              [time][node]; c of mesh_transport
///   /x, /y, /z              [node], node positions
///   /edge, /weight          [edge][2], [edge] of a graph
///   /triangle               [triangle][3] of a mesh
/// Root attributes: quantities (the names of the species, in the order of the deck), Conventions; /cambium: provenance.
/// xarray opens it.
class NodeFieldsWriter : public Writer {
 public:
  struct Params {
    std::optional<std::int64_t> every;
    std::optional<double> interval;
    std::string file = "nodes.h5";
    Precision precision = Precision::float64;
    std::optional<io::Compression> compress;
    static void describe(deck::Describe<Params>& d) {
      d("every", &Params::every, "number of steps between two snapshots; default 100 if 'interval' is not given")
          .at_least(1);
      d("interval", &Params::interval,
        "time between two snapshots, as an alternative to 'every'; with the same 'sample_interval' in the physics they "
        "are at exact multiples")
          .positive();
      d("file", &Params::file, "name in the folder of the stage").def("nodes.h5");
      d("precision", &Params::precision, "floating-point precision of the values; single halves the file size")
          .options({{"double", Precision::float64}, {"single", Precision::float32}})
          .def(Precision::float64);
      d("compress", &Params::compress, "store the values smaller, without loss or within a bound of error");
      d.check([](const Params& p) -> std::string {
        if (p.every && p.interval) return "'every' and 'interval' exclude each other; leave one out";
        return io::problem_without_first_frame(p.compress);
      });
    }
  };
  NodeFieldsWriter(const Params& params, Context& context) : params_(params), context_(context) {}

  void attach(const Physics& physics) override;
  std::int64_t every() const override { return params_.interval ? 1 : params_.every.value_or(100); }
  void observe(const State& state, std::int64_t step, double time) override;
  bool shows_end() const override { return true; }
  void observe_end(const State& state, std::int64_t step, double time) override;
  void finish(const State& state) override;
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override { return {params_.file}; }

 private:
  std::string path() const;
  void create(const AllShown& all);
  void expect_after(double time);

  Params params_;
  Context& context_;
  const NodePhysics* physics_ = nullptr;
  std::optional<io::File> file_;  ///< rank 0, from the first snapshot on
  bool begun_ = false;            ///< a snapshot was written since the start or the resume; the same on every rank
  double seen_ = -1.0;            ///< time of the last snapshot in the file
  double next_ = 0.0;             ///< with 'interval': time of the next snapshot
};

}  // namespace cambium::graph
