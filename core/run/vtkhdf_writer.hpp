#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/deck/describe.hpp"
#include "core/io/fields/vtkhdf.hpp"
#include "core/plugin/writer.hpp"

namespace cambium {

/// Fields on grids, meshes and graphs, or particles, of any physics for ParaView; see io::VtkhdfFile for the contents
/// of the file.
class VtkhdfWriter : public Writer {
 public:
  struct Params {
    std::optional<std::int64_t> every;
    std::optional<double> interval;  ///< in the physics' unit of time
    std::string file = "output.vtkhdf";
    bool velocities = false, forces = false, xml = false;
    Precision precision = Precision::float32;
    std::optional<io::Compression> compress;
    static void describe(deck::Describe<Params>& d) {
      d("every", &Params::every, "number of steps between two snapshots; default 100 if 'interval' is not given")
          .at_least(1);
      d("interval", &Params::interval,
        "time between two snapshots, in the unit of the physics, as an alternative to 'every'")
          .positive();
      d("file", &Params::file, "name of the file in the folder of the stage").def("output.vtkhdf");
      d("velocities", &Params::velocities, "also write particle velocities (Å/ps)").def(false);
      d("forces", &Params::forces, "also write particle forces (eV/Å)").def(false);
      d("precision", &Params::precision, "floating-point precision of all time-dependent values")
          .options({{"double", Precision::float64}, {"single", Precision::float32}})
          .def(Precision::float32);
      d("xml", &Params::xml,
        "also write a file in VTK's XML formats for each snapshot (.vti or .vtu) and a list of them (.pvd), for "
        "ParaView before 5.12 and VTK before 9.3")
          .def(false);
      d("compress", &Params::compress,
        "compression of arrays that change with time; type: lossless opens everywhere, an error bound needs Cambium's "
        "filter");
      d.check([](const Params& p) -> std::string {
        if (p.every && p.interval) return "'every' and 'interval' exclude each other; leave one out";
        return io::problem_without_first_frame(p.compress);
      });
    }
  };
  VtkhdfWriter(const Params& params, Context& context) : params_(params), context_(context) {}

  void attach(const Physics& physics) override;
  std::int64_t every() const override { return params_.interval ? 1 : params_.every.value_or(100); }
  void observe(const State& state, std::int64_t step, double time) override;
  bool shows_end() const override { return true; }
  void observe_end(const State& state, std::int64_t step, double time) override;
  void finish(const State& state) override;
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override;

 private:
  std::string path() const;
  void expect_after(double time);
  /// On rank 0, with its initial content.
  template <class Fields>
  io::VtkhdfFile& file_for(const Fields& fields);

  Params params_;
  Context& context_;
  const Physics* physics_ = nullptr;
  std::unique_ptr<io::VtkhdfFile> file_;  ///< rank 0, from the first frame on
  double seen_ = -1.0;                    ///< time of the newest frame in the file
  double next_ = 0.0;                     ///< with 'interval': a frame is due at this time
};

}  // namespace cambium
