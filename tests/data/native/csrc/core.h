#pragma once
bool is_wide(int64_t capability);
