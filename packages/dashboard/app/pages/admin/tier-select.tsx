import { TIER_NAMES, type TierName } from "@upstow/contract";

export function TierSelect({ value, onChange }: { value: string; onChange: (tier: TierName) => void }) {
  return (
    <label>
      Tier
      <select
        className="tier"
        value={value}
        onChange={(event) => onChange(TIER_NAMES.find((tier) => tier === event.target.value) ?? "free")}
      >
        {TIER_NAMES.map((tier) => (
          <option key={tier}>{tier}</option>
        ))}
      </select>
    </label>
  );
}
