#pragma once
#include <array>
#include <map>
#include <optional>

#include "plugins/pretrain/archive/field_sample.hpp"
#include "plugins/pretrain/archive/made_up.hpp"

namespace cambium::pretrain {

/// Snapshots of simulated fields, from files of a stage or synthetic. With `apart` the positive of a snapshot is the
/// one `apart` selected snapshots later in the same run; the last ones of a run, which have none, are omitted. Held in
/// memory.
class FieldArchive : public train::Dataset {
 public:
  struct Params {
    std::vector<std::string> files, fields;
    std::string array, runs;
    std::vector<std::int64_t> periodic;
    std::map<std::string, std::vector<double>> parameters;
    std::optional<MadeUpFields> made_up;
    std::int64_t apart = 0;
    std::optional<std::array<double, 2>> times;
    std::vector<std::int64_t> moments, without_moments;
    bool anomalies = false;
    static void describe(deck::Describe<Params>& d);
  };
  FieldArchive(const Params& params, Context&) : params_(params) {}

  void open(Context& context) override;
  std::int64_t size() const override { return std::ssize(moments_); }
  std::vector<train::FieldInfo> fields() const override { return field_infos(*archive_, params_.apart > 0); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;
  /// Names of the quantities, in the order of a sample's channels; for an opened data set.
  const std::vector<std::string>& channel_names() const { return archive_->layout.channels; }
  /// Names of the parameters of runs, in the order of a sample's `parameters`; for an opened data set.
  const std::vector<std::string>& parameter_names() const { return archive_->parameters; }

 private:
  Archive archive() const;
  FieldSource source() const;
  bool taken(std::int64_t moment) const;
  void require_named() const;
  Params params_;
  std::shared_ptr<const Archive> archive_;
  std::vector<Moment> moments_;
};

}  // namespace cambium::pretrain
