#include "core/io/background_file.hpp"

#include <string_view>
#include <utility>

#include "core/io/hdf5/atomic_file.hpp"

namespace cambium::io {

BackgroundFile::~BackgroundFile() {
  if (thread_.joinable()) thread_.join();
}

void BackgroundFile::write(std::string path, std::vector<char> bytes, std::function<void()> allowed,
                           std::function<void()> after) {
  wait();
  thread_ = std::thread(
      [this, path = std::move(path), bytes = std::move(bytes), allowed = std::move(allowed), after = std::move(after)] {
        try {
          if (allowed) allowed();
          write_file_atomically(path, std::string_view(bytes.data(), bytes.size()));
          if (after) after();
        } catch (...) {
          failed_ = std::current_exception();
        }
      });
}

void BackgroundFile::wait() {
  if (thread_.joinable()) thread_.join();
  if (auto failed = std::exchange(failed_, nullptr)) std::rethrow_exception(failed);
}

}  // namespace cambium::io
