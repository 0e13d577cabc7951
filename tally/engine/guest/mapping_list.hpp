/// The lists of mappings in /proc/PID/maps, smaps and numa_maps, as they would be without the engine: without its own
/// mappings, and with the program's protection of pages that the engine protects.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::guest {

/// `maps` has one line for each mapping, `smaps` several, and `numa_maps` one that begins with the start address only.
/// The others are texts with the sizes of all mappings: presented_sizes.hpp.
enum class ListForm : u8 { maps, smaps, numa_maps, status, statm, stat };

inline bool lists_mappings(ListForm form) { return form <= ListForm::numa_maps; }

/// A list that was read completely. Only one exists, and it is replaced by the next one.
struct MappingList {
  const char* text = nullptr;
  u64 bytes = 0;
  ListForm form = ListForm::maps;

  /// Whether the lines of a mapping begin at this offset.
  bool starts_mapping(u64 at) const;
  /// The offset at which the mapping of this offset ends.
  u64 end_of_mapping(u64 at) const;
};

/// Reads the list of an open file from its beginning, without moving its position. Returns false if that is not
/// possible, or if the list exceeds 64 MB. The caller must hold cache_lock and lock_code().
bool read_mapping_list(u64 fd, ListForm form, MappingList& list);

/// For a program that reads on at offset `at` while its mappings change. keep_rest() keeps the rest of the mapping of
/// which a part was read; it returns false if that is not possible. In the list that is read then, put_rest_first()
/// leaves out what was read before, and returns the offset at which the program continues.
bool keep_rest(const MappingList& list, u64 at);
u64 put_rest_first(MappingList& list);

}  // namespace tally::engine::guest
