#pragma once
#include "core/deck/describe.hpp"
#include "core/io/fields/vtkhdf.hpp"
#include "core/io/hdf5/compression.hpp"
#include "core/plugin/writer.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"
#include "plugins/kinetic/writers/output_clock.hpp"

namespace cambium::kinetic {

/// Distribution functions of all species: distribution.<step>.h5 with /<species>/f [conf cell][velocity
/// cells...][mode]; or, for ParaView, distribution.<species>.vtkhdf with their values over one to three dimensions at
/// every output.
class DistributionWriter : public Writer {
 public:
  struct Params {
    std::optional<std::int64_t> every;
    std::optional<double> interval;  ///< in the unit of time of the physics
    enum class Format { hdf5, vtkhdf } format = Format::hdf5;
    std::vector<std::string> axes;
    bool xml = false;
    std::optional<io::Compression> compress;
    static void describe(deck::Describe<Params>& d) {
      describe_times(d, 1000);
      d("format", &Params::format,
        "hdf5: the expansions, one file per output, as start_from and kinetic_io read them; vtkhdf: values, one file "
        "per "
        "species with all outputs, for ParaView")
          .options({{"hdf5", Params::Format::hdf5}, {"vtkhdf", Params::Format::vtkhdf}})
          .def(Params::Format::hdf5);
      d("axes", &Params::axes,
        "axes for vtkhdf: one to three of x, y, z, vx, vy, vz, on which f is shown, integrated over the others; "
        "default: all, if there are at most three")
          .def({})
          .example("[x, vx]");
      d("xml", &Params::xml,
        "for vtkhdf: also a file of VTK's XML formats for each output (.vti or .vtu) and a list of them (.pvd), for "
        "ParaView before 5.12 and VTK before 9.3")
          .def(false);
      d("compress", &Params::compress,
        "compression of f, lossless or within an error bound; a relative one refers to the range of each mode");
      d.check([](const Params& p) -> std::string {
        if (const auto problem = io::problem_without_first_frame(p.compress); !problem.empty()) return problem;
        if (p.format == Params::Format::hdf5 && p.xml) return "'xml' belongs to 'format: vtkhdf'";
        return p.format == Params::Format::hdf5 && !p.axes.empty() ? "'axes' belongs to 'format: vtkhdf'" : "";
      });
    }
  };
  DistributionWriter(const Params& params, Context& context) : params_(params), context_(context) {}

  void attach(const Physics& physics) override;
  std::int64_t every() const override { return clock_.every(params_.every, 1000); }
  void observe(const State& state, std::int64_t step, double time) override;
  void save(io::Group& group) const override { clock_.save(group); }
  void load(const io::Group& group) override { clock_.load(group); }
  bool shows_end() const override { return true; }
  void observe_end(const State& state, std::int64_t step, double time) override {
    if (clock_.shows_end(step, time, every())) observe(state, step, time);
  }
  void finish(const State& state) override;
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override {
    return {params_.format == Params::Format::vtkhdf ? "distribution.<species>.vtkhdf" : "distribution.<step>.h5"};
  }

 private:
  void write_expansions(std::int64_t step, double time);
  void write_compressed(io::Group& group, const Species& species);
  void begin(std::size_t species, std::unique_ptr<io::VtkhdfFile> file);
  void add_samples(std::int64_t step, double time);
  std::string path_of(const std::string& species) const;

  Params params_;
  Context& context_;
  OutputClock clock_{params_.interval};
  const Vlasov* physics_ = nullptr;
  std::vector<std::vector<int>> axes_;                    ///< of every species, for vtkhdf
  std::vector<std::unique_ptr<io::VtkhdfFile>> samples_;  ///< of every species, on rank 0, from the first output on
};

}  // namespace cambium::kinetic
