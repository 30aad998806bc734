import { useState } from "react";
import { formatBytes, formatCount } from "../../format.ts";
import { usePages } from "../../load.ts";
import { Filters, SearchBox } from "../../parts/filters.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { ScrollTable } from "../../parts/scroll-table.tsx";
import { Empty, ListState } from "../../parts/states.tsx";
import { Unverified } from "../../parts/unverified.tsx";
import { EditAccount } from "./edit-account.tsx";
import { NewAccount } from "./new-account.tsx";

export interface AccountItem {
  id: string;
  email: string;
  tier: string;
  rateUpload: number | null;
  rateTransform: number | null;
  rateOther: number | null;
  transformUnits: number | null;
  projects: number;
  storedBytes: number;
  hasPassword: boolean;
  emailVerified: boolean;
  mayOwnProjects: boolean;
  createdAt: string;
}

export function Accounts() {
  const [email, setEmail] = useState("");
  const [isCreating, setCreating] = useState(false);
  const [editing, setEditing] = useState<AccountItem | null>(null);
  const path = `/admin/accounts?limit=50${email === "" ? "" : `&email=${encodeURIComponent(email)}`}`;
  const list = usePages<AccountItem, "accounts">(path, "accounts");
  const close = () => {
    setCreating(false);
    setEditing(null);
    list.reload();
  };
  return (
    <>
      <Filters>
        <SearchBox label="Search by email" value={email} onChange={setEmail} />
        <button type="button" className="primary" onClick={() => setCreating(true)}>
          Create account
        </button>
      </Filters>
      <ListState list={list} empty={<Empty title="No matching accounts" />}>
        <ScrollTable label="Accounts">
          <thead>
            <tr>
              <th>Email address</th>
              <th>Tier</th>
              <th className="number">Projects</th>
              <th className="number">Stored</th>
              <th className="act">
                <span className="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {list.items.map((account) => (
              <tr key={account.id}>
                <td className="email">
                  <SafeText text={account.email} />{" "}
                  {!account.hasPassword && <span className="tag">Never signed in</span>}{" "}
                  {!account.emailVerified && <Unverified />}{" "}
                  {!account.mayOwnProjects && <span className="tag">Cannot own projects</span>}
                </td>
                <td className="tier">{account.tier}</td>
                <td className="number">{formatCount(account.projects)}</td>
                <td className="number">{formatBytes(account.storedBytes)}</td>
                <td className="number act">
                  <button type="button" className="small" onClick={() => setEditing(account)}>
                    Edit<span className="visually-hidden"> {showHidden(account.email)}</span>
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </ScrollTable>
        <MoreButton list={list} />
      </ListState>
      {isCreating && <NewAccount onClose={close} />}
      {editing !== null && <EditAccount account={editing} onClose={close} />}
    </>
  );
}
